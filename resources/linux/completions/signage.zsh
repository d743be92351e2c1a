#compdef signage
_signage() {
  local -a reply
  reply=("${(@f)$(signage complete zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $reply[1] == :files ]]; then
    _files
  elif [[ -n $reply[1] ]]; then
    _describe -t signage signage reply
  fi
}
if [[ $funcstack[1] == _signage ]]; then
  _signage "$@"
else
  compdef _signage signage
fi
