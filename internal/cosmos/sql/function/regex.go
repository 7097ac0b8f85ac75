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

// maxPatternBytes limits the text of a pattern.
const maxPatternBytes = 4096

// Nothing stops the matcher, so each of its tries is short, and the query is asked whether it is to go on
// before each. The matcher looks at a clock that goes in steps of a tenth of a second, so that a try lasts up to two of them, but
// no less than one. There are several since a machine under load may not let it run for as long.
const (
	patternTime  = 50 * time.Millisecond
	patternTries = 3
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
	return subject, x, true
}

// try calls find, which looks for a match, until it comes to an end, and reports whether it has. If not, the
// query ends.
func (x *regex) try(c *Call, find func() error) bool {
	var err error
	for range patternTries {
		if c.ask() {
			return false
		}
		if err = find(); err == nil || errors.Is(err, regexp2.ErrBacktrackingStackLimit) {
			break
		}
	}
	if err != nil {
		x.failed(c, err)
	}
	return err == nil
}

// next is the match behind another, the first one if that is nil; nil if there is none.
func (x *regex) next(c *Call, subject string, before *regexp2.Match) (match *regexp2.Match, ok bool) {
	ok = x.try(c, func() (err error) {
		if before == nil {
			match, err = x.compiled.FindStringMatch(subject)
		} else {
			match, err = x.compiled.FindNextMatch(before)
		}
		return err
	})
	return match, ok
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
	x.compiled, x.err = pattern.Compile(x.pattern, options, patternTime)
}

// failed ends the query when a pattern has not come to an end with a value.
func (x *regex) failed(c *Call, err error) doc.Value {
	if errors.Is(err, regexp2.ErrBacktrackingStackLimit) {
		return c.Fail(fault.New(fault.Invalid, "The regular expression %q takes too much memory on a value.", x.pattern))
	}
	return c.Fail(fault.New(fault.Invalid, "The regular expression %q takes more than %v on a value. Match shorter values.", x.pattern, patternTime))
}

func regexMatch(c *Call, args []doc.Value) doc.Value {
	subject, x, ok := regexOf(c, args, 2)
	if !ok {
		return undefined
	}
	found := false
	ok = x.try(c, func() (err error) {
		found, err = x.compiled.MatchString(subject)
		return err
	})
	if !ok {
		return undefined
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
	match, ok := x.next(c, subject, nil)
	if !ok {
		return undefined
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
	match, ok := x.next(c, subject, nil)
	for ; match != nil; match, ok = x.next(c, subject, match) {
		if s, ok := groupOf(match, group); ok {
			found.addText(s)
		}
		if len(found.b) > maxArrayBytes {
			return failArray(c)
		}
	}
	if !ok {
		return undefined
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
		match, ok := x.next(c, subject, nil)
		for n := 0; match != nil && n != limit; n++ {
			at, size := match.ByteRange()
			b = append(b, subject[done:at]...)
			if b, done = appendReplacement(b, put, match), at+size; len(b) > maxTextBytes {
				return failText(c)
			}
			match, ok = x.next(c, subject, match)
		}
		if !ok {
			return undefined
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
