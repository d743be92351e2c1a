function __signage_complete
    set -l last (commandline -ct)
    set -l reply (signage complete fish (commandline -opc)[2..-1] "$last" 2>/dev/null)
    if test "$reply[1]" = :files
        __fish_complete_path "$last"
    else
        printf '%s\n' $reply
    end
end
complete -c signage -f -a '(__signage_complete)'
