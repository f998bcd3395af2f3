# unit: result TM=4 TN=4 Q=4 GL=16 DW=64 OB_D=256 PS_D=64 ACC_W=48
# file: bc_pack.sv
# expect: element
# Element numbers do not return to the start of the tile.
s/element_q +<= element_tile_q;/element_q <= element_next;/
