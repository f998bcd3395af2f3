# unit: queue WORDS=6 QD=4
# file: bc_queue.sv
# expect: room_o
# A full queue refuses a push beside a pop.
s/~full_o \| pop_i/~full_o/
