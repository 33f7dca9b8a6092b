xtts-precompute completion bash > c.bash; bash -n c.bash && echo bash
if command -v zsh > /dev/null; then xtts-precompute completion zsh > c.zsh; zsh -n c.zsh; fi && echo zsh
if command -v fish > /dev/null; then xtts-precompute completion fish > c.fish; fish -n c.fish; fi && echo fish
xtts-precompute completion fish --json | check_json completion
