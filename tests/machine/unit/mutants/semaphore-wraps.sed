# unit: semaphore
# file: bc_semaphore.sv
# expect: count_q
# The token after 65535 makes 0.
s/post_i \& ~overflow_o/post_i/
