# What -q leaves of every command. A row is: KIND EXIT ARGUMENTS.
#   data    -q prints what the command prints without it
#   labels  the same, whose sizes and times differ from run to run
#   part    -q prints less: the data without verdict and advice
#   judges  -q prints nothing
# With -q, stderr has nothing where the command succeeds, and one error where it fails. With --json
# beside it, stdout is one document.
rows='
judges 0 build data new --max-rejects 1
judges 0 build data cache --max-rejects 1
judges 3 build data new --max-rejects 0
judges 2 build nowhere new
labels 0 build data new --dry-run
labels 0 build data cache --dry-run --max-rejects 1
judges 0 build several new --write-corpora corpora.yaml
judges 0 verify cache
judges 0 verify cache --level deep
judges 4 verify damaged
judges 0 verify damaged --repair
judges 2 verify nowhere
data   0 info cache
data   0 info cache --by split
data   0 info cache --by rule
judges 0 info sound --by rule
judges 2 info nowhere
data   0 ls cache
judges 2 ls cache --where nonsense
data   0 show cache LJ001-0001
data   0 show cache LJ001-0001 --npy mel.npy
judges 2 show cache LJ001-9999
judges 0 diff cache cache
judges 4 diff cache sound
judges 0 plan data plan --parts 2 --max-rejects 1
judges 2 plan data cache --parts 2
judges 0 convert cache new --dtype float16
judges 2 convert cache cache
judges 0 merge new part-1 part-2 --max-rejects 1
judges 2 merge new part-1
judges 0 set set part-1 part-2 --max-rejects 1
judges 2 set set part-1
judges 0 compact cache
part   0 bench cache --num-batches 3 --batch-size 2
judges 2 bench cache --batch-size 99
part   0 monitor --for 0 --interval 50
data   0 recipes
data   0 recipes hifigan
judges 2 recipes nowhere
data   0 formats
data   0 completion bash
judges 2
judges 0 config check config.yaml
judges 0 config check config.yaml --fix
judges 4 config check config.yaml --fail-on warn
judges 2 config check nowhere.yaml
judges 0 doctor --config config.yaml
judges 4 doctor --config config.yaml --fail-on warn
'
in_python='profile trace train tune'  # the programs that these run print as they do

cp -r data/wavs plain
rm plain/LJ001-0005.wav
xtts-precompute plain sound -q
xtts-precompute data part-1 --partition 1/2 --max-rejects 1 -q
xtts-precompute data part-2 --partition 2/2 --max-rejects 1 -q
cp -r cache damaged
truncate -s 9000 damaged/shards/tokens/*.lmdb
mkdir several
cp -r data several/one
cp -r data several/two
printf 'data:\n  batch_size: 8\n' >config.yaml
mkdir ../fresh
cp -r . ../fresh

declare -A flags=([plain]="" [quiet]="-q" [document]="-q --json")

# run MODE ARGUMENTS: runs the command in a copy of this folder. Its output is ../MODE.out and
# ../MODE.err. Prints its exit code.
run() {
  local mode=$1 code=0
  shift
  rm -rf ../copy
  cp -r ../fresh ../copy
  (cd ../copy && xtts-precompute "$@") >"../$mode.out" 2>"../$mode.err" || code=$?
  echo "$code"
}

is_document() { python3 -c 'import json, sys; json.load(sys.stdin)' <"$1" 2>/dev/null; }

errors_are_alone() {  # FILE EXIT
  if [ "$2" -eq 0 ]; then [ ! -s "$1" ]; else [[ $(head -n 1 "$1") == "xtts-precompute: "* ]]; fi
}

while read -r kind exit arguments; do
  if [ -z "$kind" ]; then continue; fi
  wrong() { echo "xtts-precompute $arguments: $1"; cat "../$2.out" "../$2.err"; }
  for mode in plain quiet document; do
    # shellcheck disable=SC2086  # words of a row
    code=$(run "$mode" $arguments ${flags[$mode]})
    [ "$code" -eq "$exit" ] || wrong "exit code $code, not $exit" "$mode"
  done
  errors_are_alone ../quiet.err "$exit" || wrong "more than errors on stderr" quiet
  errors_are_alone ../document.err "$exit" || wrong "more than errors on stderr" document
  is_document ../document.out || wrong "no JSON" document
  case $kind in
    judges) [ ! -s ../quiet.out ] || wrong "-q prints" quiet ;;
    data) cmp -s ../plain.out ../quiet.out || wrong "-q changes the data" quiet ;;
    labels) cmp -s <(cut -c1-9 ../plain.out) <(cut -c1-9 ../quiet.out) || wrong "-q changes the data" quiet ;;
    part)
      [ "$(wc -l <../quiet.out)" -gt 1 ] || wrong "-q leaves no data" quiet
      [ "$(wc -l <../quiet.out)" -lt "$(wc -l <../plain.out)" ] || wrong "-q leaves all" quiet
      ;;
  esac
done <<<"$rows"

commands=$(xtts-precompute --help | sed -n '/^Make/,/^Exit codes/s/^  \([a-z]\+\) .*/\1/p')
grep -q build <<<"$commands" || echo "--help names no commands"
for command in $commands; do
  grep -q " $command\b" <<<"$rows $in_python" || echo "no row for $command"
done
