#!/usr/bin/env bash
# `lockstep blocks` prints what a plug-in declares, at each level of detail, and helps with names.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

run 0 --plugin "$PINGPONG" blocks
grep -qE '^    pingpong +two players and one ball$' stdout || fail 'the machine is not listed'
grep -qE '^    player/steady +returns every ball after a fixed time$' stdout || fail 'the model is not listed'

cat >expected <<'TEXT'
player/steady: returns every ball after a fixed time
  Parameters
    think_cycles  = 3  integer  1..1000 cycles  from catching the ball to hitting it
  Metrics
    hits            counter    hits    how often the ball was hit
    thinking        counter    cycles  time with the ball in hand
    last_hit        peak       hits    number of the last hit
    misses          counter    hits    hits that found the net busy
    cycles_per_hit  ratio      cycles  thinking / hits
    flight          histogram  cycles  from hitting the ball to its return
TEXT
run 0 --plugin "$PINGPONG" blocks player/steady
cmp -s stdout expected || fail "$(diff stdout expected)"
run 0 --plugin "$PINGPONG" blocks player
cmp -s stdout expected || fail 'a slot with one model prints something else than that model'

cat >expected <<'TEXT'
machine pingpong: two players and one ball
  Parameters
    clock_mhz    = 1000  number   0.001..1000000 MHz     clock of both players
    hits         = 1000  integer  1..1000000000000 hits  hits of a whole game
    net_cycles   = 10    integer  1..1000 cycles         latency from player to player
    deadlock_at  = 0     integer  0..1000000000000 hits  keep the ball for ever after so many hits; 0: never
  Sections
    player  slot player  = steady  both players
TEXT
run 0 --plugin "$PINGPONG" blocks pingpong
cmp -s stdout expected || fail "$(diff stdout expected)"

refused 2 "'player/stedy' (nearest: player/steady)" --plugin "$PINGPONG" blocks player/stedy
refused 2 "'pongping'" --plugin "$PINGPONG" blocks pongping
refused 2 "unexpected argument 'b'" --plugin "$PINGPONG" blocks player b
refused 2 "help: unknown command 'blcoks' (nearest: blocks)" help blcoks
exit 0
