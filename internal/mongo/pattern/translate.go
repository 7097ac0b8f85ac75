package pattern

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Errors of patterns. Their texts are those of PCRE2.
var (
	errTooLarge       = errors.New("regular expression is too large")
	errNothing        = errors.New("quantifier does not follow a repeatable item")
	errMissingParen   = errors.New("missing closing parenthesis")
	errUnmatchedParen = errors.New("unmatched closing parenthesis")
	errNoSuchGroup    = errors.New("reference to non-existent subpattern")
)

// flags are the options at one place in the pattern: groups such as (?i) change them.
type flags struct {
	Options
	classSpace bool // xx
	noCapture  bool // n
	ungreedy   bool // U
	sameNames  bool // J
}

func flagsOf(o Options) flags { return flags{Options: o} }

// A source is the text of a pattern, read up to a place. It knows what stands there, and nothing of its meaning.
type source struct {
	text string
	at   int
}

// A translator writes a pattern of PCRE2 in the syntax of one of the two matchers. It writes out what each class and
// option means, because the classes and options of the matchers mean something else.
type translator struct {
	source
	out   []byte
	flags flags

	// linear is set if the translation is for package regexp. That one is made first; it also finds the names of
	// groups.
	linear bool
	names  map[string]int

	groups int // opened so far
	open   []group

	item       int      // where in out the last item begins, -1 if a quantifier may not follow
	itemSize   int      // size before the last item was added
	repeats    int      // how many copies of the last item PCRE2 makes at most for a quantifier
	size       int      // items, counted once for each copy that PCRE2 makes of a repeated group
	spans      int      // ranges written for classes so far
	references int      // the highest group that a reference names
	mentioned  []string // names of groups in references
	late       error    // an error that PCRE2 reports only if there is no other
	ucp        bool     // (*UCP): classes follow Unicode
	ansiBreak  bool     // \R is CR, LF or CRLF

	prefix prefix

	differs     bool // package regexp cannot express the pattern
	moved       bool // package regexp finds other places or groups, but the same texts
	keeps       bool // there is a \K
	lastLine    bool // there is a $ or \Z
	firstOfLine bool // there is a ^ for each line
	textEnd     bool // there is a \z
	ended       bool // the branch had a $ or \Z
	inner       bool // something follows a $ or \Z
}

// A group is a group whose closing parenthesis has not been read.
type group struct {
	item     int
	size     int // of the translator before it
	flags    flags
	kind     groupKind
	first    int // number of groups before it, for (?|, in which each branch counts from there
	most     int
	ended    bool // the translator's ended before it
	anyEnded bool // a branch ended so
	branches int
	asks     bool // it is a condition whose assertion comes next
}

type groupKind uint8

const (
	plain groupKind = iota
	look
	condition
	resets
)

func (t *translator) run() error {
	t.item = -1
	if t.names == nil {
		t.names = map[string]int{}
	}
	if err := t.startVerbs(); err != nil {
		return err
	}
	for t.at < len(t.text) {
		if err := t.step(); err != nil {
			return err
		}
		if len(t.out) > maxWritten {
			return errTooLarge
		}
	}
	switch {
	case len(t.open) > 0:
		return errMissingParen
	case t.references > t.groups:
		return errNoSuchGroup
	}
	for _, name := range t.mentioned {
		if t.names[name] == 0 {
			return errNoSuchGroup
		}
	}
	return t.late
}

// keepGroup is the number of the group that marks the place of \K. It is higher than any other.
const keepGroup = maxBytes + 1

// rest is the part of the text that has not been read.
func (in *source) rest() string { return in.text[in.at:] }

// next reads a character.
func (in *source) next() rune {
	r, size := utf8.DecodeRuneInString(in.rest())
	in.at += size
	return r
}

// take reads a text if it is what follows.
func (in *source) take(s string) bool {
	if !strings.HasPrefix(in.rest(), s) {
		return false
	}
	in.at += len(s)
	return true
}

func (t *translator) step() error {
	if t.flags.extended && t.skipSpace() {
		return nil
	}
	switch c := t.next(); c {
	case '\\':
		return t.escape()
	case '[':
		return t.class()
	case '(':
		return t.openGroup()
	case ')':
		return t.closeGroup()
	case '|':
		return t.alternative()
	case '^':
		t.lineStart()
	case '$':
		t.lineEnd()
	case '.':
		t.anyCharacter()
	case '*':
		return t.quantifier(0, -1)
	case '+':
		return t.quantifier(1, -1)
	case '?':
		return t.quantifier(0, 1)
	case '{':
		least, most, ok, err := t.counts()
		if err != nil {
			return err
		}
		if ok {
			return t.quantifier(least, most)
		}
		t.literal('{')
	default:
		t.literal(c)
	}
	return nil
}

// skipSpace skips white space or a comment, as option x asks.
func (in *source) skipSpace() bool {
	if in.take("#") {
		_, after, _ := strings.Cut(in.rest(), "\n")
		in.at = len(in.text) - len(after)
		return true
	}
	r, size := utf8.DecodeRuneInString(in.rest())
	if !unicode.Is(unicode.Pattern_White_Space, r) {
		return false
	}
	in.at += size
	return true
}

// skipRemarks skips what may stand between a quantifier and the ? or + that follows it.
func (t *translator) skipRemarks() error {
	for {
		switch {
		case t.take(`\E`), t.flags.extended && t.at < len(t.text) && t.skipSpace():
		case t.take("(?#"):
			if err := t.remark(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// begin notes where an item begins that a quantifier may repeat.
func (t *translator) begin() {
	t.item, t.itemSize, t.repeats = len(t.out), t.size, 1
	t.size++
	t.inner = t.inner || t.ended
}

// write writes an item that has the same syntax in both matchers.
func (t *translator) write(s string) {
	t.begin()
	t.out = append(t.out, s...)
}

func (t *translator) literal(r rune) {
	t.begin()
	if t.flags.caseless && unicode.SimpleFold(r) != r {
		var s set
		s.addFolded(r, r, true)
		t.out = s.append(t.out, false, t.linear)
		t.prefix.close()
		return
	}
	t.out = appendRune(t.out, r)
	if len(t.open) > 0 || t.flags.caseless {
		t.prefix.close()
		return
	}
	t.prefix.literal(r)
}

// set writes an item that is a set.
func (t *translator) set(s set, negated bool) {
	t.begin()
	t.prefix.close()
	t.out = s.append(t.out, negated, t.linear)
}

func (t *translator) anyCharacter() {
	t.begin()
	var except set
	if !t.flags.dotAll {
		except.add('\n', '\n')
	}
	t.out = except.append(t.out, true, t.linear)
	if len(t.open) > 0 {
		t.prefix.close()
		return
	}
	t.prefix.dot()
}

// assert writes an assertion, which matches a place. Only some of them may be repeated.
func (t *translator) assert(s string) {
	t.begin()
	t.out = append(t.out, s...)
}

func (t *translator) lineStart() {
	switch {
	case !t.flags.multiline:
		t.textStart()
	case t.linear:
		t.firstOfLine = true
		t.prefix.close()
		t.assert(`(?m:^)`)
	default:
		t.assert(`(?:\A|(?<=\n)(?!\z))`)
	}
	t.item = -1
}

func (t *translator) textStart() {
	t.assert(`\A`)
	if len(t.open) > 0 {
		t.prefix.close()
		return
	}
	t.prefix.start()
}

func (t *translator) lineEnd() {
	if t.flags.multiline {
		t.prefix.close()
		if t.linear {
			t.assert(`(?m:$)`)
		} else {
			t.assert(`(?=\n|\z)`)
		}
	} else {
		t.lastLineEnd()
	}
	t.item = -1
}

// lastLineEnd writes $ or \Z: the end of the text, or the place before a newline that ends it.
func (t *translator) lastLineEnd() {
	t.prefix.close()
	if t.linear {
		t.assert(`\z`)
	} else {
		t.assert(`(?=\n?\z)`)
	}
	t.lastLine, t.ended = true, true
}

// alternative is |.
func (t *translator) alternative() error {
	t.out = append(t.out, '|')
	t.item = -1
	if len(t.open) == 0 {
		t.prefix.alternative()
		t.ended = false // a new branch
		return nil
	}
	g := &t.open[len(t.open)-1]
	g.anyEnded = g.anyEnded || t.ended
	t.ended = g.ended
	g.branches++
	if g.kind == condition && g.branches > 1 {
		return errors.New("conditional subpattern contains more than two branches")
	}
	if g.kind == resets {
		g.most = max(g.most, t.groups)
		t.groups = g.first
	}
	return nil
}

// counts reads the rest of {2}, {2,} or {2,3} after the brace. If not ok, the brace is a literal.
func (in *source) counts() (least, most int, ok bool, err error) {
	inside, _, found := strings.Cut(in.rest(), "}")
	first, second, two := strings.Cut(inside, ",")
	if !found || !isDigits(first) || second != "" && !isDigits(second) {
		return 0, 0, false, nil
	}
	most = -1
	if least, err = count(first); err != nil {
		return 0, 0, false, err
	}
	switch {
	case !two:
		most = least
	case second != "":
		if most, err = count(second); err != nil {
			return 0, 0, false, err
		}
		if most < least {
			return 0, 0, false, errors.New("numbers out of order in {} quantifier")
		}
	}
	in.at += len(inside) + 1
	return least, most, true, nil
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func count(digits string) (int, error) {
	n, err := strconv.Atoi(digits)
	if err != nil || n > 65535 {
		return 0, errors.New("number too big in {} quantifier")
	}
	return n, nil
}

// quantifier repeats the last item; most is -1 for no limit.
func (t *translator) quantifier(least, most int) error {
	if t.item < 0 {
		return errNothing
	}
	t.prefix.quantifier(least)
	t.size = t.itemSize + (t.size-t.itemSize)*min(max(least, most, 1), t.repeats)
	if t.size > maxSize {
		return errTooLarge
	}
	if err := t.skipRemarks(); err != nil {
		return err
	}
	greedy, possessive := !t.flags.ungreedy, false
	switch {
	case t.take("?"):
		greedy = !greedy
	case t.take("+"):
		greedy, possessive = true, true
	}
	t.inner = t.inner || t.ended
	t.out = append(t.out, '{')
	t.out = strconv.AppendInt(t.out, int64(least), 10)
	if most != least {
		t.out = append(t.out, ',')
	}
	if most != least && most >= 0 {
		t.out = strconv.AppendInt(t.out, int64(most), 10)
	}
	t.out = append(t.out, '}')
	if !greedy {
		t.out = append(t.out, '?')
	}
	if possessive {
		t.differs = true
		t.out = append(slices.Insert(t.out, t.item, []byte("(?>")...), ')')
	}
	t.item = -1 // a quantifier cannot be repeated
	return nil
}
