package pattern

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// unsupported is the error for a part of PCRE2's syntax that neither matcher can express.
func unsupported(what string) error { return fmt.Errorf("%s is not supported by mayfly", what) }

// startVerbs are the verbs that may begin a pattern. Those that only tune PCRE2 are ignored: they change no answer.
var startVerbs = []struct {
	text string
	set  func(t *translator)
}{
	{"(*UTF)", nil}, {"(*NO_START_OPT)", nil}, {"(*NO_AUTO_POSSESS)", nil}, {"(*NO_DOTSTAR_ANCHOR)", nil},
	{"(*NO_JIT)", nil},
	{"(*LF)", nil}, {"(*BSR_UNICODE)", nil},
	{"(*UCP)", func(t *translator) { t.ucp = true }},
	{"(*BSR_ANYCRLF)", func(t *translator) { t.ansiBreak = true }},
}

func (t *translator) startVerbs() error {
	for found := true; found; {
		found = false
		for _, v := range startVerbs {
			if t.take(v.text) {
				found = true
				if v.set != nil {
					v.set(t)
				}
			}
		}
	}
	return nil
}

// verbNames are the verbs that are not supported. Some of them may begin a pattern.
var verbNames = strings.Fields("ACCEPT COMMIT PRUNE SKIP THEN MARK CR CRLF ANY ANYCRLF NUL NOTEMPTY NOTEMPTY_ATSTART " +
	"napla naplb sr asr script_run atomic_script_run")

// letterGroups are the alphabetic names of assertions and groups.
var letterGroups = map[string]string{
	"pla": "=", "positive_lookahead": "=", "nla": "!", "negative_lookahead": "!",
	"plb": "<=", "positive_lookbehind": "<=", "nlb": "<!", "negative_lookbehind": "<!", "atomic": ">",
}

// openGroup reads what follows an opening parenthesis.
func (t *translator) openGroup() error {
	if strings.HasPrefix(t.rest(), "*") && !strings.HasPrefix(t.rest(), "*)") {
		return t.verb()
	}
	if !t.take("?") {
		if t.flags.noCapture {
			t.push(plain, "(?:")
			return nil
		}
		t.capture()
		return nil
	}
	switch {
	case t.take("#"):
		return t.remark()
	case t.take(":"):
		t.push(plain, "(?:")
	case t.take("|"):
		t.moved = true
		t.push(resets, "(?:")
	case t.take("<="):
		t.look("(?<=")
	case t.take("<!"):
		t.look("(?<!")
	case t.take("="):
		t.look("(?=")
	case t.take("!"):
		t.look("(?!")
	case t.take(">"):
		t.differs = true
		t.push(plain, "(?>")
	case t.take("P<"), t.take("<"):
		return t.namedCapture(">")
	case t.take("'"):
		return t.namedCapture("'")
	case t.take("P="):
		return t.namedReference(")")
	case t.take("("):
		return t.condition()
	case t.startsWithSign():
		return errors.New("digit expected after (?+ or (?-")
	case t.take("P>"), t.take("&"), t.take("R"), t.startsWithNumber():
		return unsupported("a subroutine call")
	case t.take("C"):
		return unsupported("a callout")
	default:
		return t.setFlags()
	}
	return nil
}

func (in *source) startsWithNumber() bool {
	digits := in.rest()
	if digits != "" && (digits[0] == '+' || digits[0] == '-') {
		digits = digits[1:]
	}
	return digits != "" && digits[0] >= '0' && digits[0] <= '9'
}

// startsWithSign reports whether a + follows that does not begin a number.
func (in *source) startsWithSign() bool {
	return strings.HasPrefix(in.rest(), "+") && !in.startsWithNumber()
}

func (t *translator) push(kind groupKind, written string) {
	t.inner = t.inner || t.ended
	t.open = append(t.open,
		group{item: len(t.out), size: t.size, flags: t.flags, kind: kind, first: t.groups, ended: t.ended})
	t.prefix.close()
	t.out = append(t.out, written...)
	t.size++
	t.item = -1
}

func (t *translator) look(written string) {
	t.differs = true
	t.push(look, written)
}

// capture opens a group that is numbered. For regexp2 the number is written out.
func (t *translator) capture() {
	written := "("
	if !t.linear {
		written = "(?<" + strconv.Itoa(t.groups+1) + ">"
	}
	t.push(plain, written)
	t.groups++
}

func (t *translator) closeGroup() error {
	n := len(t.open) - 1
	if n < 0 {
		return errUnmatchedParen
	}
	g := t.open[n]
	t.open = t.open[:n]
	t.out = append(t.out, ')')
	t.flags = g.flags
	t.item, t.itemSize, t.repeats = g.item, g.size, maxSize
	t.ended = t.ended || g.anyEnded
	if g.kind == look {
		t.ended, t.repeats = g.ended, 1
	}
	if g.kind == resets {
		t.groups = max(g.most, t.groups)
	}
	if n > 0 && t.open[n-1].asks {
		t.open[n-1].asks = false
		t.item = -1 // a condition cannot be repeated
	}
	return nil
}

func (in *source) remark() error {
	_, after, ok := strings.Cut(in.rest(), ")")
	if !ok {
		return errors.New("missing ) after (?# comment")
	}
	in.at = len(in.text) - len(after)
	return nil
}

func (t *translator) verb() error {
	inside, _, ok := strings.Cut(t.rest()[1:], ")")
	name, _, colon := strings.Cut(t.rest()[1:], ":")
	if written := letterGroups[name]; colon && written != "" {
		t.at += 1 + len(name) + 1
		t.differs = true
		if written == ">" {
			t.push(plain, "(?>")
		} else {
			t.push(look, "(?"+written)
		}
		return nil
	}
	if ok && (inside == "F" || inside == "FAIL") {
		t.at += 1 + len(inside) + 1
		t.differs = true
		t.prefix.close()
		t.assert(`(?!)`)
		t.item = -1
		return nil
	}
	for _, known := range verbNames {
		if inside == known || strings.HasPrefix(inside, known+":") {
			return unsupported("(*" + inside + ")")
		}
	}
	return errors.New("(*VERB) not recognized or malformed")
}

// name reads the name of a group, up to end.
func (in *source) name(end string) (string, error) {
	n := 0
	for rest := in.rest(); n < len(rest) && isWord(rest[n]); n++ {
	}
	name := in.rest()[:n]
	in.at += n
	switch {
	case name == "":
		return "", errors.New("subpattern name expected")
	case name[0] >= '0' && name[0] <= '9':
		return "", errors.New("subpattern name must start with a non-digit")
	case n > 32:
		return "", errors.New("subpattern name is too long (maximum 32 code units)")
	case !in.take(end):
		return "", errors.New("syntax error in subpattern name (missing terminator?)")
	}
	return name, nil
}

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func (t *translator) namedCapture(end string) error {
	name, err := t.name(end)
	if err != nil {
		return err
	}
	t.capture()
	if !t.linear {
		return nil
	}
	if n, had := t.names[name]; had && n != t.groups {
		if t.flags.sameNames {
			return unsupported("a name that two groups have")
		}
		return errors.New("two named subpatterns have the same name (PCRE2_DUPNAMES not set)")
	}
	t.names[name] = t.groups
	return nil
}

// reference writes a back reference to a group.
func (t *translator) reference(n int) error {
	if n < 1 {
		return errNoSuchGroup
	}
	t.references = max(t.references, n)
	t.differs = true
	t.prefix.close()
	switch {
	case t.linear: // not written for this one
		t.write(`(?:)`)
	case t.flags.caseless:
		t.write(`(?i:\k<` + strconv.Itoa(n) + `>)`)
	default:
		t.write(`\k<` + strconv.Itoa(n) + `>`)
	}
	return nil
}

func (t *translator) namedReference(end string) error {
	name, err := t.name(end)
	if err != nil {
		return err
	}
	return t.referenceTo(name)
}

// referenceTo writes a back reference by name, to a group that may come later.
func (t *translator) referenceTo(name string) error {
	t.mentioned = append(t.mentioned, name)
	if t.linear {
		t.differs = true
		t.prefix.close()
		t.write(`(?:)`)
		return nil
	}
	return t.reference(t.names[name])
}

// condition reads what follows (?(: a number, a name or an assertion.
func (t *translator) condition() error {
	t.differs = true
	rest := t.rest()
	if strings.HasPrefix(rest, "?=") || strings.HasPrefix(rest, "?!") || strings.HasPrefix(rest, "?<=") ||
		strings.HasPrefix(rest, "?<!") {
		t.push(condition, "(?")
		t.open[len(t.open)-1].asks = true
		return t.openGroup()
	}
	inside, _, _ := strings.Cut(rest, ")")
	n := 0
	switch {
	case isDigits(strings.TrimLeft(inside, "+-")):
		n = t.relative(inside)
		t.at += len(inside)
	case strings.HasPrefix(inside, "<"), strings.HasPrefix(inside, "'"):
		end := map[bool]string{true: ">", false: "'"}[inside[0] == '<']
		t.at++
		name, err := t.name(end)
		if err != nil {
			return err
		}
		t.mentioned = append(t.mentioned, name)
		if n = t.names[name]; n == 0 {
			n = 1 // the name comes later, and this is not written
		}
	default:
		if strings.HasPrefix(inside, "R") || inside == "DEFINE" || strings.HasPrefix(inside, "VERSION") {
			return unsupported("the condition (" + inside + ")")
		}
		return errors.New("assertion expected after (?( or (?(?C)")
	}
	if !t.take(")") {
		return errors.New("missing closing parenthesis for condition")
	}
	t.references = max(t.references, n)
	if n < 1 {
		return errNoSuchGroup
	}
	t.push(condition, "(?("+strconv.Itoa(n)+")")
	return nil
}

// relative reads the number of a group: 2, -1 for the last one that was opened, +1 for the next.
func (t *translator) relative(s string) int {
	n, err := strconv.Atoi(strings.TrimLeft(s, "+-"))
	if err != nil {
		return 0
	}
	switch s[0] {
	case '-':
		return t.groups - n + 1
	case '+':
		return t.groups + n
	}
	return n
}

// setFlags reads the rest of (?i), (?i-s:…) and similar groups.
func (t *translator) setFlags() error {
	f, on := t.flags, true
	if t.take("^") {
		f = flags{}
	}
	for t.at < len(t.text) {
		c := t.text[t.at]
		t.at++
		switch c {
		case 'i':
			f.caseless = on
		case 'm':
			f.multiline = on
		case 's':
			f.dotAll = on
		case 'x':
			f.extended = on
			f.classSpace = t.take("x") && on
		case 'n':
			f.noCapture = on
		case 'U':
			f.ungreedy = on
		case 'J':
			f.sameNames = on
		case '-':
			if !on {
				return errors.New("invalid hyphen in option setting")
			}
			on = false
		case ':':
			t.push(plain, "(?:")
			t.flags = f
			return nil
		case ')':
			t.flags = f
			t.item = -1
			return nil
		default:
			return errors.New("unrecognized character after (? or (?-")
		}
	}
	return errMissingParen
}
