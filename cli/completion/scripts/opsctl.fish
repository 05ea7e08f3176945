# Completion of opsctl for fish. opsctl itself says what can stand at the cursor; see opsctl completion --help.

function __opsctl_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l current (commandline -ct | string trim --left --chars "\"'")
    set -l offers ($program internal complete words $words "$current" 2>/dev/null)
    if test "$offers[1]" = ":directories"
        set -l option (string match -r -- '^--[^=]+=' "$current")
        __fish_complete_directories (string replace -r -- '^--[^=]+=' '' "$current") | string replace -r -- '^' "$option"
    else if set -q offers[1]
        printf '%s\n' $offers
    end
end

complete -c opsctl -f -k -a '(__opsctl_complete)'
