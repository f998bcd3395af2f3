// A library small enough for arithmetic by hand, and netlists made of it.
#pragma once

#include <string>

#include "model/gates/liberty.hpp"
#include "model/gates/netlist.hpp"

namespace bitcycle {

// 2 V; pins of 0.01 pF. INV: delays and energies over slew (0, 0.2 ns) and load (0, 0.04 pF).
inline const char* const kTinyLiberty = R"(/* by hand */
library (tiny) {
  time_unit : "1ns";
  voltage_unit : "1V";
  leakage_power_unit : "1nW";
  capacitive_load_unit (1, pf);
  nom_voltage : 2.0;
  nom_temperature : 25;
  lu_table_template (d) {
    variable_1 : input_net_transition;
    variable_2 : total_output_net_capacitance;
    index_1 ("0, 0.2");
    index_2 ("0, 0.04");
  }
  power_lut_template (p) {
    variable_1 : total_output_net_capacitance;
    variable_2 : input_transition_time;
    index_1 ("0, 0.04");
    index_2 ("0, 0.2");
  }
  cell (INV) {
    area : 2;
    leakage_power () { when : "A"; value : 3; }
    leakage_power () { when : "!A"; value : 5; }
    pin (A) {
      direction : input;
      capacitance : 0.01;
      rise_capacitance : 0.012;
      fall_capacitance : 0.008;
    }
    pin (Y) {
      direction : output;
      function : "!A";
      timing () {
        related_pin : "A";
        timing_sense : negative_unate;
        cell_rise (d) { values ("0.1, 0.3", "0.2, 0.4"); }
        cell_fall (d) { values ("0.05, 0.15", "0.15, 0.25"); }
        rise_transition (scalar) { values ("0.1"); }
        fall_transition (scalar) { values ("0.1"); }
      }
      internal_power () {
        related_pin : "A";
        rise_power (p) { values ("0.010, 0.030", "0.020, 0.040"); }
        fall_power (scalar) { values ("0.005"); }
      }
    }
  }
  cell (NAND2) {
    area : 3;
    cell_leakage_power : 7;
    pin (A) {
      direction : input;
      capacitance : 0.01;
      internal_power () {
        when : "!B";
        rise_power (scalar) { values ("0.002"); }
        fall_power (scalar) { values ("0.001"); }
      }
    }
    pin (B) { direction : input; capacitance : 0.01; }
    pin (Y) {
      direction : output;
      function : "(A B)'";
      timing () {
        related_pin : "A B";
        timing_sense : negative_unate;
        cell_rise (scalar) { values ("0.1"); }
        cell_fall (scalar) { values ("0.2"); }
        rise_transition (scalar) { values ("0.1"); }
        fall_transition (scalar) { values ("0.1"); }
      }
      internal_power () {
        related_pin : "A";
        rise_power (scalar) { values ("0.040"); }
        fall_power (scalar) { values ("0.050"); }
      }
      internal_power () {
        related_pin : "B";
        rise_power (scalar) { values ("0.060"); }
        fall_power (scalar) { values ("0.070"); }
      }
    }
  }
  cell (DFF) {
    area : 9;
    cell_leakage_power : 11;
    ff (IQ, IQN) { next_state : "D"; clocked_on : "CLK"; }
    pin (CLK) {
      direction : input;
      clock : true;
      capacitance : 0.02;
      internal_power () {
        when : "D & Q | !D & !Q";
        rise_power (scalar) { values ("0.003"); }
        fall_power (scalar) { values ("0.004"); }
      }
      internal_power () {
        when : "D ^ Q";
        rise_power (scalar) { values ("0"); }
        fall_power (scalar) { values ("0.006"); }
      }
    }
    pin (D) {
      direction : input;
      capacitance : 0.01;
      internal_power () {
        rise_power (scalar) { values ("0.008"); }
        fall_power (scalar) { values ("0.009"); }
      }
    }
    pin (Q) {
      direction : output;
      function : "IQ";
      timing () {
        related_pin : "CLK";
        timing_type : rising_edge;
        cell_rise (scalar) { values ("0.5"); }
        cell_fall (scalar) { values ("0.6"); }
        rise_transition (scalar) { values ("0.1"); }
        fall_transition (scalar) { values ("0.1"); }
      }
      internal_power () {
        related_pin : "CLK";
        rise_power (scalar) { values ("0.080"); }
        fall_power (scalar) { values ("0.090"); }
      }
    }
  }
}
)";

inline LibertyLibrary tiny_library() {
  static const LibertyFile file = LibertyFile::parse(kTinyLiberty, "tiny.lib");
  return make_liberty({file});
}

/// A module with ports clk_i (net 2) and those given, as yosys writes it.
inline std::string netlist_json(const std::string& ports, const std::string& cells) {
  return R"({"creator": "by hand", "modules": {"top": {"attributes": {"top": "1"}, "ports": {)"
         R"("clk_i": {"direction": "input", "bits": [2]}, )" +
         ports + R"(}, "cells": {)" + cells + R"(}, "netnames": {}}}})";
}

inline std::string port_json(const std::string& name, const std::string& direction,
                             const std::string& bits) {
  return "\"" + name + "\": {\"direction\": \"" + direction + "\", \"bits\": [" + bits + "]}";
}

}  // namespace bitcycle
