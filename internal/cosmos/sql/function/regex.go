package function

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"

	"github.com/mayflydb/mayfly/internal/cosmos/pattern"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Limits on a pattern: of its text, and of the time that one value may take.
const (
	maxPatternBytes = 4096
	maxPatternTime  = time.Second
)

// A regex is a pattern that a call has compiled.
type regex struct {
	room
	compiled           *regexp2.Regexp
	pattern, modifiers string
	err                error
}

var regexOptions = map[rune]regexp2.RegexOptions{
	'i': regexp2.IgnoreCase,
	'm': regexp2.Multiline,
	's': regexp2.Singleline,
	'x': regexp2.IgnorePatternWhitespace,
}

// regexOf gives the subject and the pattern that arguments name; the one of the
// row before when it is the same. The modifiers are argument at, if given.
func regexOf(c *Call, args []doc.Value, at int) (subject string, x *regex, ok bool) {
	subject, pattern, ok := texts(args)
	modifiers := ""
	if ok && len(args) > at {
		modifiers, ok = doc.AsString(args[at])
	}
	if !ok {
		return "", nil, false
	}
	x, had := c.Memo.(*regex)
	if !had {
		x = &regex{}
		c.Memo = x
	}
	if x.compiled == nil || x.pattern != pattern || x.modifiers != modifiers {
		x.compile(pattern, modifiers)
	}
	if x.err != nil {
		c.Fail(x.err)
		return "", nil, false
	}
	// A match may take a second, so the clock is asked before each.
	return subject, x, !c.late()
}

func (x *regex) compile(text, modifiers string) {
	x.pattern, x.modifiers, x.err = strings.Clone(text), strings.Clone(modifiers), nil
	if len(text) > maxPatternBytes {
		x.err = fault.New(fault.Invalid, "A regular expression has %d bytes, more than the limit of %d.", len(text), maxPatternBytes)
		return
	}
	options := regexp2.None
	for _, m := range modifiers {
		option, ok := regexOptions[m]
		if !ok {
			x.err = fault.New(fault.Invalid, "The modifiers %q of a regular expression are not of i, m, s and x.", modifiers)
			return
		}
		options |= option
	}
	x.compiled, x.err = pattern.Compile(x.pattern, options, maxPatternTime)
}

// failed ends the query when a pattern has not come to an end with a value.
func (x *regex) failed(c *Call, err error) doc.Value {
	if errors.Is(err, regexp2.ErrBacktrackingStackLimit) {
		return c.Fail(fault.New(fault.Invalid, "The regular expression %q takes too much memory on a value.", x.pattern))
	}
	return c.Fail(fault.New(fault.Invalid, "The regular expression %q takes more than %v on a value.", x.pattern, maxPatternTime))
}

func regexMatch(c *Call, args []doc.Value) doc.Value {
	subject, x, ok := regexOf(c, args, 2)
	if !ok {
		return undefined
	}
	found, err := x.compiled.MatchString(subject)
	if err != nil {
		return x.failed(c, err)
	}
	return truth(found)
}

// regexExtract gives undefined where there is no match, or no such group in it.
func regexExtract(c *Call, args []doc.Value) doc.Value {
	subject, x, ok := regexOf(c, args, 2)
	group, whole := optionalInt(args, 3, 0)
	if !ok || !whole {
		return undefined
	}
	match, err := x.compiled.FindStringMatch(subject)
	if err != nil {
		return x.failed(c, err)
	}
	s, ok := groupOf(match, group)
	if !ok {
		return undefined
	}
	return x.copy(s)
}

// regexExtractAll leaves out matches that the group takes no part in.
func regexExtractAll(c *Call, args []doc.Value) doc.Value {
	subject, x, ok := regexOf(c, args, 2)
	group, whole := optionalInt(args, 3, 0)
	if !ok || !whole {
		return undefined
	}
	found := x.list()
	match, err := x.compiled.FindStringMatch(subject)
	for ; match != nil && err == nil; match, err = x.compiled.FindNextMatch(match) {
		if s, ok := groupOf(match, group); ok {
			found.addText(s)
		}
		if len(found.b) > maxArrayBytes {
			return failArray(c)
		}
		if c.late() {
			return undefined
		}
	}
	if err != nil {
		return x.failed(c, err)
	}
	return x.array(c, found)
}

// groupOf is the text of a group, 0 being the match.
func groupOf(match *regexp2.Match, group int64) (string, bool) {
	if match == nil || group < 0 || group > maxPatternBytes {
		return "", false
	}
	g := match.GroupByNumber(int(group))
	if g == nil || len(g.Captures) == 0 {
		return "", false
	}
	return g.String(), true
}

// regexReplace makes a function that replaces so many matches, -1 being all.
// In the replacement $1 is a group and $$ is a dollar.
func regexReplace(limit int) func(*Call, []doc.Value) doc.Value {
	return func(c *Call, args []doc.Value) doc.Value {
		subject, x, ok := regexOf(c, args, 3)
		put, isText := doc.AsString(args[2])
		if !ok || !isText {
			return undefined
		}
		b, done := x.begin(), 0
		match, err := x.compiled.FindStringMatch(subject)
		for n := 0; match != nil && err == nil && n != limit; n++ {
			at, size := match.ByteRange()
			b = append(b, subject[done:at]...)
			if b, done = appendReplacement(b, put, match), at+size; len(b) > maxTextBytes {
				return failText(c)
			}
			if c.late() {
				return undefined
			}
			match, err = x.compiled.FindNextMatch(match)
		}
		if err != nil {
			return x.failed(c, err)
		}
		if len(b)+len(subject)-done > maxTextBytes {
			return failText(c)
		}
		return x.text(append(b, subject[done:]...))
	}
}

// appendReplacement stops where the text is too long anyway.
func appendReplacement(dst []byte, put string, match *regexp2.Match) []byte {
	for len(dst) <= maxTextBytes {
		at := strings.IndexByte(put, '$')
		if at < 0 {
			return append(dst, put...)
		}
		dst = append(dst, put[:at]...)
		put = put[at+1:]
		if strings.HasPrefix(put, "$") {
			dst, put = append(dst, '$'), put[1:]
			continue
		}
		digits := 0
		for digits < min(len(put), 2) && '0' <= put[digits] && put[digits] <= '9' {
			digits++
		}
		number, err := strconv.Atoi(put[:digits])
		if err != nil || match.GroupByNumber(number) == nil {
			dst = append(dst, '$')
			continue
		}
		s, _ := groupOf(match, int64(number))
		dst, put = append(dst, s...), put[digits:]
	}
	return dst
}
