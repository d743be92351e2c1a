_signage() {
  local line=${COMP_LINE:0:COMP_POINT} reply=() before= each
  while IFS= read -r each; do reply+=("$each"); done < <(signage complete bash "$line" 2>/dev/null)
  COMPREPLY=()
  if [[ ${reply[0]} == :files ]]; then
    compopt -o default
    return
  fi
  each=${line##*[[:space:]]}
  if [[ $COMP_WORDBREAKS == *:* && $each == *:* ]]; then before=${each%"${each##*:}"}; fi
  for each in "${reply[@]}"; do COMPREPLY+=("${each#"$before"}"); done
}
complete -F _signage signage
