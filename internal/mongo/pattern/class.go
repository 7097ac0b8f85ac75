package pattern

import (
	"errors"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

var (
	errClassEnd = errors.New("missing terminating ] for character class")
	errRange    = errors.New("range out of order in character class")
	errClassIn  = errors.New("invalid range in character class")
)

// posixSets are the sets of the classes [:name:].
var posixSets = map[string]set{
	"alpha":  {ranges: []span{{'A', 'Z'}, {'a', 'z'}}},
	"lower":  {ranges: []span{{'a', 'z'}}},
	"upper":  {ranges: []span{{'A', 'Z'}}},
	"alnum":  {ranges: []span{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
	"ascii":  {ranges: []span{{0, 0x7F}}},
	"blank":  {ranges: []span{{'\t', '\t'}, {' ', ' '}}},
	"cntrl":  {ranges: []span{{0, 0x1F}, {0x7F, 0x7F}}},
	"digit":  letterSets['d'],
	"graph":  {ranges: []span{{'!', '~'}}},
	"print":  {ranges: []span{{' ', '~'}}},
	"punct":  {ranges: []span{{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
	"space":  letterSets['s'],
	"word":   letterSets['w'],
	"xdigit": {ranges: []span{{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
}

// posixProperties are the sets of the classes that (*UCP) changes.
var posixProperties = map[string]set{
	"alpha": {properties: []property{{"L", false}}},
	"lower": {properties: []property{{"Ll", false}}},
	"upper": {properties: []property{{"Lu", false}}},
	"alnum": {properties: []property{{"L", false}, {"N", false}}},
	"blank": letterSets['h'],
	"cntrl": {properties: []property{{"Cc", false}}},
	"digit": unicodeSets['d'],
	"space": unicodeSets['s'],
	"word":  unicodeSets['w'],
}

// A classReader reads what is between [ and ].
type classReader struct {
	*translator
	set     set
	from    rune // a character that may begin a range
	has     bool // from is set
	pending bool // - has followed it
	quoted  bool // between \Q and \E
}

// class reads the rest of a class after [, to the ] that ends it.
func (t *translator) class() error {
	for _, c := range [...]string{":", ".", "="} {
		if _, ok := posixEnd(t.rest(), c); ok {
			return errors.New("POSIX named classes are supported only within a class")
		}
	}
	negated := t.take("^")
	x := classReader{translator: t}
	if t.take("]") {
		x.character(']')
	}
	for {
		if t.at == len(t.text) {
			return errClassEnd
		}
		before := len(x.set.ranges)
		done, err := x.step()
		if err != nil {
			return err
		}
		if t.spans += len(x.set.ranges) - before; t.spans > maxSpans {
			return errTooLarge
		}
		if done {
			break
		}
	}
	x.flush()
	t.begin()
	t.prefix.close()
	t.out = x.set.append(t.out, negated, t.linear)
	return nil
}

// posixEnd finds the name in the rest of [:name:] after the first bracket. If not ok, it is not such a class.
func posixEnd(rest, kind string) (name string, ok bool) {
	if !strings.HasPrefix(rest, kind) {
		return "", false
	}
	name, _, ok = strings.Cut(rest[1:], kind+"]")
	return name, ok && !strings.ContainsAny(name, `]\[`)
}

func (x *classReader) step() (done bool, err error) {
	t := x.translator
	c := t.next()
	switch {
	case x.quoted && c == '\\' && t.take("E"):
		x.quoted = false
	case x.quoted:
		return false, x.character(c)
	case t.flags.classSpace && (c == ' ' || c == '\t'):
	case c == ']':
		return true, nil
	case c == '[':
		return false, x.bracket()
	case c == '\\':
		return false, x.escape()
	case c == '-' && x.has && !x.pending && !strings.HasPrefix(t.rest(), "]"):
		x.pending = true
	default:
		return false, x.character(c)
	}
	return false, nil
}

// character reads a character, or the end of a range.
func (x *classReader) character(r rune) error {
	if x.pending {
		low := x.from
		x.has, x.pending = false, false
		if r < low {
			return errRange
		}
		x.set.addFolded(low, r, x.flags.caseless)
		return nil
	}
	x.flush()
	x.from, x.has = r, true
	return nil
}

// flush adds the pending character, which begins no range.
func (x *classReader) flush() {
	if x.has {
		x.set.addFolded(x.from, x.from, x.flags.caseless)
	}
	if x.pending {
		x.set.add('-', '-')
	}
	x.has, x.pending = false, false
}

// bracket reads a [ in a class: [:name:] or a literal.
func (x *classReader) bracket() error {
	t := x.translator
	for _, kind := range [...]string{".", "="} {
		if _, ok := posixEnd(t.rest(), kind); ok {
			return errors.New("POSIX collating elements are not supported")
		}
	}
	name, ok := posixEnd(t.rest(), ":")
	if !ok {
		return x.character('[')
	}
	t.at += len(name) + len("::]")
	if x.pending {
		return errClassIn
	}
	name, not := strings.CutPrefix(name, "^")
	if t.flags.caseless && (name == "upper" || name == "lower") {
		name = "alpha"
	}
	s, ok := posixSets[name]
	if !ok {
		return errors.New("unknown POSIX class name")
	}
	if u, has := posixProperties[name]; has && t.ucp {
		s = u
	}
	return x.class(s, not)
}

// class adds a class inside of another. It cannot begin or end a range.
func (x *classReader) class(s set, not bool) error {
	if x.pending {
		return errClassIn
	}
	x.flush()
	if not {
		s = s.not()
	}
	x.set.join(s)
	if rest := x.rest(); strings.HasPrefix(rest, "-") && !strings.HasPrefix(rest, "-]") {
		return errClassIn
	}
	return nil
}

func (x *classReader) escape() error {
	t := x.translator
	if t.at == len(t.text) {
		return errors.New(`\ at end of pattern`)
	}
	r := t.next()
	if r >= utf8.RuneSelf || !isWord(byte(r)) || r == '_' {
		return x.character(r)
	}
	letter := byte(r)
	if s, not, ok := t.letterSet(letter); ok {
		return x.class(s, not)
	}
	switch letter {
	case 'Q':
		x.quoted = true
		return nil
	case 'E':
		return nil
	case 'b':
		return x.character('\b')
	case 'p', 'P':
		s, err := t.property(letter == 'P')
		if err != nil {
			return err
		}
		return x.class(s, false)
	case 'N':
		if t.take("{U+") {
			r, err := t.braced(16, errHexadecimal)
			if err != nil {
				return err
			}
			return x.character(r)
		}
		return errors.New(`\N is not supported in a class`)
	case 'B', 'R', 'X':
		return errInClass
	case '1', '2', '3', '4', '5', '6', '7':
		t.at--
		return x.character(t.octal(3))
	case '8', '9':
		return x.character(r)
	case 'A', 'C', 'G', 'K', 'Z', 'g', 'k', 'z':
		return errEscape
	}
	r, err := t.character(letter)
	if err != nil {
		return err
	}
	return x.character(r)
}

// property reads what follows \p or \P: a letter, or a name in braces.
func (in *source) property(not bool) (s set, err error) {
	malformed := errors.New(`malformed \P or \p sequence`)
	if in.at == len(in.text) {
		return s, malformed
	}
	name := string(in.next())
	if name == "{" {
		inside, after, ok := strings.Cut(in.rest(), "}")
		if !ok {
			return s, malformed
		}
		in.at = len(in.text) - len(after)
		var negated bool
		name, negated = strings.CutPrefix(inside, "^")
		not = not != negated
	}
	s, ok := propertySet(name)
	if !ok {
		return s, errors.New(`unknown property after \P or \p`)
	}
	if not {
		s = s.not()
	}
	return s, nil
}

// specialProperties are the names that only PCRE2 has, and the categories whose names differ between the matchers.
var specialProperties = map[string]func() set{
	"any": func() set { return set{ranges: []span{{0, unicode.MaxRune}}} },
	"l&":  func() set { return casedLetters },
	"lc":  func() set { return casedLetters },
	"xan": func() set { return tables(unicode.L, unicode.N) },
	"xwd": func() set { s := tables(unicode.L, unicode.N); s.add('_', '_'); return s },
	"xsp": func() set { s := tables(unicode.Z); s.join(unicodeSpace); return s },
	"xps": func() set { s := tables(unicode.Z); s.join(unicodeSpace); return s },
}

var (
	unicodeSpace = set{ranges: unicodeSets['s'].ranges}
	casedLetters = tables(unicode.Lu, unicode.Ll, unicode.Lt)
)

// propertySet finds a category, a script or another property by name. Case, spaces, hyphens and underscores in names do
// not matter.
func propertySet(name string) (set, bool) {
	plain := loose(name)
	if special, ok := specialProperties[plain]; ok {
		return special(), true
	}
	known, ok := properties()[plain]
	if !ok {
		return set{}, false
	}
	if table, only := unicode.Properties[known]; only {
		return tables(table), true
	}
	return set{properties: []property{{known, false}}}, true
}

// properties maps the names of properties, as loose writes them, to the names that the matchers have.
var properties = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, list := range []map[string]*unicode.RangeTable{unicode.Properties, unicode.Scripts, unicode.Categories} {
		for name := range list {
			all[loose(name)] = name
		}
	}
	return all
})

func loose(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

func tables(list ...*unicode.RangeTable) (s set) {
	for _, table := range list {
		for _, r := range table.R16 {
			s.stride(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range table.R32 {
			s.stride(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	s.ranges = tidy(s.ranges)
	return s
}

func (s *set) stride(low, high, stride rune) {
	if stride == 1 {
		s.add(low, high)
		return
	}
	for r := low; r <= high; r += stride {
		s.add(r, r)
	}
}
