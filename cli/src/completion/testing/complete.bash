# Prints what bash offers for a command line: bash --norc complete.bash SCRIPT 'sagemaker-tfs ba'
# The line is cut as readline cuts it: at spaces, and at equals signs, which are words of their own.
source "$1"
read -ra COMP_WORDS <<< "${2//=/ = }"
if [[ $2 == *' ' ]]; then COMP_WORDS+=(''); fi
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_sagemaker_tfs
(( ${#COMPREPLY[@]} == 0 )) || printf '%s\n' "${COMPREPLY[@]}"
