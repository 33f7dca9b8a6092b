try() { xtts-precompute config check "$@" || echo "exit $?"; }
try missing.yaml
printf 'data:\n\tbatch_size: 1\n' > config.yaml
try config.yaml
printf 'data:\n  a: 1\n---\ndata:\n  a: 2\n' > config.yaml
try config.yaml --fix
printf 'recipe: myxtts\n' > config.yaml
try config.yaml
printf 'data:\n  batch_size: 1\n' > config.yaml
try config.yaml --gpu 'RTX 4080'
try config.yaml --gpu 'rtx 3070ti'
try config.yaml --gpus 0
try config.yaml --cache nowhere
mkdir folder
try folder
cat config.yaml
ls
