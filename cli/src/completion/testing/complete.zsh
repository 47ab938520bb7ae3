# Prints what zsh offers for a command line: zsh -f complete.zsh SCRIPT 'sagemaker-tfs ba'
# An interactive zsh in a pseudoterminal gets the line and a Tab; its compadd prints the matches between two marks.
zmodload zsh/zpty
zpty inner zsh -f -i
setup=$(mktemp)
trap 'rm -f $setup' EXIT
cat > $setup <<'SETUP'
PROMPT= RPROMPT=
unsetopt zle_bracketed_paste 2>/dev/null
autoload -Uz compinit && compinit -u -D
bindkey '^I' complete-word
zstyle ':completion:*' insert-tab false
mark() { print -r -- $'\n@@mark' }
compprefuncs=(mark)
comppostfuncs=(mark)
compadd() {
  # What only asks for matches is not shown.
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a offered
  builtin compadd -A offered "$@"
  (( $#offered )) && print -rl -- $'\n' $offered
}
SETUP
zpty -w inner "source $setup; source $1; print rea''dy"
while zpty -r inner line; do [[ $line == *ready* ]] && break; done
zpty -w -n inner "$2"$'\t'
integer marks=0
while zpty -r inner line; do
  line=${line%%$'\r\n'}
  if [[ $line == *@@mark* ]]; then (( ++marks == 2 )) && break; continue; fi
  (( marks == 1 )) && [[ -n ${line//[$'\r\n\0']/} ]] && print -r -- ${line//$'\r'/}
done
zpty -d inner
