"""A coqc and a coqchk that answer at once, so that what is around them can be tested."""

COQC = r"""#!/bin/sh
[ "$1" = --version ] && { echo "The Coq Proof Assistant, version 8.16.1"; exit 0; }
for file; do :; done
if grep -q PLANTED_FAILURE "$file"; then
    line=$(grep -n PLANTED_FAILURE "$file" | cut -d: -f1)
    printf 'File "%s", line %s, characters 0-4:\n' "$file" "$line"
    echo 'Error: (in proof) Attempt to save an incomplete proof'
    exit 1
fi
case $file in
*Ask*.v)
    grep '^Definition asked' "$file" | while read -r line; do
        number=$((${number:--1} + 1)); echo "question $number"
        case $line in
        *SonnxClip.Real*|*SonnxClip.Link*|*Generated.Real*)
            printf 'Axioms:\nClassicalDedekindReals.sig_forall_dec\n  : forall P : Prop, P\n'
            case $line in *SonnxClip.Link*)
                printf 'ClassicalDedekindReals.sig_not_dec : X\nClassical_Prop.classic : X\n' ;;
            esac
            printf 'FunctionalExtensionality.functional_extensionality_dep\n  : X\n' ;;
        *) echo "Closed under the global context" ;;
        esac
    done ;;
*) : > "${file%.v}.vo" ;;
esac
"""
COQCHK = r"""#!/bin/sh
cat <<'END'
CONTEXT SUMMARY
* Theory: Set is predicative
* Axioms:
    Coq.Reals.ClassicalDedekindReals.sig_not_dec
* Constants/Inductives relying on type-in-type: <none>
* Constants/Inductives relying on unsafe (co)fixpoints: <none>
* Inductives whose positivity is assumed: <none>
END
"""


def install(folder, coqc=COQC, coqchk=COQCHK):
    """Put both into a folder."""
    folder.mkdir(exist_ok=True)
    for name, text in (("coqc", coqc), ("coqchk", coqchk)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
