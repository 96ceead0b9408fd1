#!/bin/sh
# Fit a line to points by gradient descent, in awk. Hyperparameters arrive as --name value, sorted by name.
set -eu
epochs=27 rate=0.1 momentum=0
while [ $# -gt 1 ]; do
    case "$1" in
        --epochs) epochs=$2 ;;
        --rate) rate=$2 ;;
        --momentum) momentum=$2 ;;
        *) echo "train.sh: unknown argument $1" >&2; exit 2 ;;
    esac
    shift 2
done
model=${SM_MODEL_DIR:-model}
mkdir -p "$model"

# exec: a stop signal reaches awk itself, not a shell that waits for it
exec awk -v epochs="$epochs" -v rate="$rate" -v momentum="$momentum" -v model="$model" '
    function uniform() {  # the same numbers in every awk: a generator of Lehmer (1951), with the multiplier 16807
        state = (state * 16807) % 2147483647
        return state / 2147483647
    }
    BEGIN {
        state = 7
        for (i = 1; i <= 110000; i++) {
            x[i] = 4 * uniform() - 2
            y[i] = 1.5 * x[i] - 0.5 + (uniform() + uniform() + uniform() - 1.5) / 2
        }
        for (epoch = 1; epoch <= epochs; epoch++) {
            da = db = 0
            for (i = 1; i <= 100000; i++) {
                miss = a * x[i] + b - y[i]
                da += miss * x[i] / 100000
                db += miss / 100000
            }
            va = momentum * va - rate * da
            vb = momentum * vb - rate * db
            a += va
            b += vb
            squares = 0
            for (i = 100001; i <= 110000; i++) squares += (a * x[i] + b - y[i]) ^ 2
            printf "epoch=%d validation rmse: %.6g\n", epoch, sqrt(squares / 10000)
            fflush()
            file = model "/line.txt"
            printf "slope %.9g\nintercept %.9g\n", a, b > file
            close(file)
        }
    }'
