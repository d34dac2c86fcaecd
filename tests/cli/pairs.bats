#!/usr/bin/env bats
# A few of all pairs of features; 'make pairs' runs all of them.

load helper

@test "pairs of features keep what has to hold whatever is combined" {
  "$GPNN_ROOT/scripts/pairs" -s 100 >report || complain "$(<report)"
}

@test "the sweep finds what depends on threads, and what is refused without being listed" {
  mkdir -p false/bin
  ln -s "$GPNN_BUILD"/bin/* false/bin
  rm false/bin/gpnn-predict
  cat >false/bin/gpnn-predict <<END
#!/bin/sh
case " \$* " in
  *' --latent '*) echo 'gpnn-predict: no' >&2 && exit 1 ;;
  *' -j 2 '*) "$GPNN_BUILD/bin/gpnn-predict" "\$@" | sed 's/1/2/' ;;
  *) exec "$GPNN_BUILD/bin/gpnn-predict" "\$@" ;;
esac
END
  chmod +x false/bin/gpnn-predict
  GPNN_BUILD=$PWD/false run -1 "$GPNN_ROOT/scripts/pairs" exp exp
  [[ ${lines[0]} == 'exp, exp: predictions of a pipe, by two threads, differ' ]]
  GPNN_BUILD=$PWD/false run -1 "$GPNN_ROOT/scripts/pairs" exp latent
  [[ ${lines[0]} == 'exp, latent: refused, 1: gpnn-predict: no' ]]
}
