# The manual page and the completion for bash, from the tables of commands and flags: cmake -DFOLDER=… -DVERSION=… -DMAN=… -DBASH=… -P man.cmake
file(READ ${FOLDER}/commands.def commands)
file(READ ${FOLDER}/options.def options)
string(REGEX REPLACE "/\\*[^*]*\\*/\n" "" commands "${commands}")
string(REGEX REPLACE "/\\*[^*]*\\*/\n" "" options "${options}")
string(REGEX REPLACE "#[^\n]*\n" "" options "${options}")

set(command "COMMAND\\([A-Z]+, *([a-z]+), *\"([^\"]*)\", *\"([^\"]*)\"\\)\n")
set(option "OPTION\\(([^,]+), *\"([^\"]*)\", *([^,]+), *[A-Z]+, *[a-z_]+, *[^\"\n]*, *\"([^\"]*)\"\\)\n")
set(silent "OPTION\\([^\n]*NULL\\)\n")

string(REGEX REPLACE "${command}" "\\1 " names "${commands}")
string(REGEX REPLACE "${silent}" "" spoken "${options}")
string(REGEX REPLACE "${option}" "--\\2 " flags "${spoken}")

string(REGEX REPLACE "${command}" ".TP\n.B trib \\1 \\2\n\\3\n" commands "${commands}")
string(REGEX REPLACE "${option}" ".TP\n@\\1@\\\\-\\\\-\\2@\\3@\n\\4\n" options "${spoken}")
string(REGEX REPLACE "@'(.)'@" ".B \\\\-\\1, " options "${options}")
string(REPLACE "@0@" ".B " options "${options}")
string(REPLACE "@NULL@" "" options "${options}")
string(REGEX REPLACE "@\"([^\"]*)\"@" " \\1" options "${options}")

file(WRITE ${MAN} ".TH TRIB 1 \"\" \"trib ${VERSION}\" \"User commands\"
.SH NAME
trib \\- build system and compiler for ternary neural networks
.SH SYNOPSIS
.B trib
.RI [ command \"] [\" operands \"] [\" flags ]
.SH DESCRIPTION
Compiles models written in the language
.I .tri
to shared libraries with a C interface, as
.I tri.build
says, and builds nothing twice.
Without a command it builds the project in the current folder.
.B trib COMMAND \\-\\-help
lists the flags of a command.
.SH COMMANDS
${commands}.SH FLAGS
Not every command knows all of them.
${options}.SH FILES
.TP
.I tri.build
the manifest of a project
.TP
.I tri.lock
the commits of its dependencies
.TP
.I .trib
what trib knows of the project: may be removed
.TP
.I ~/.cache/trib
what all projects share; TRIB_CACHE_* and
.B trib config
set its place and limits
.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
errors in the sources
.TP
.B 2
wrong usage
.TP
.B 3
something outside failed: a disk, a network, a device
.TP
.B 130
interrupted
")
file(WRITE ${BASH} "# Commands and flags of trib, for bash.
_trib()
{
	local word=\"\${COMP_WORDS[COMP_CWORD]}\"
	if [[ $word == -* ]]; then
		COMPREPLY=( $(compgen -W '${flags}' -- \"$word\") )
	elif [ \"$COMP_CWORD\" = 1 ]; then
		COMPREPLY=( $(compgen -W '${names}' -- \"$word\") )
	else
		COMPREPLY=( $(compgen -f -- \"$word\") )
	fi
}
complete -o filenames -F _trib trib
")
