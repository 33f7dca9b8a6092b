# shellcheck source=/dev/null
source <(xtts-precompute completion bash)
complete_words() { COMP_WORDS=(xtts-precompute "$@"); COMP_CWORD=$#; _xtts_precompute; echo "${COMPREPLY[@]}"; }
complete_words ver
complete_words verify --level q
complete_words verify --lev
complete_words info cache --by ""
complete_words completion z
complete_words build data cache --recipe myx
complete_words recipes whis
complete_words bench --device ""
complete_words profile --device ""
