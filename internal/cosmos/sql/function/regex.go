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

// maxPatternBytes is the length of the longest pattern.
const maxPatternBytes = 4096

// A running match cannot be stopped, so each attempt is short, and the query is checked before each. The matcher's
// clock has steps of a tenth of a second, so an attempt lasts one or two of them. There are several attempts because
// a machine under load may not let it run that long.
const (
	patternTime  = 50 * time.Millisecond
	patternTries = 3
)

// A regex is a call's compiled pattern.
type regex struct {
	scratch
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

// regexOf returns the subject and the compiled pattern of the arguments. It reuses the pattern of the previous row if
// it is the same. The modifiers are argument at, if present.
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

// try calls find, which looks for a match, until it completes, and reports whether it has. If not, the query ends.
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

// next is the match after before, or the first match if before is nil. match is nil if there is none.
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
		x.err = fault.New(fault.Invalid, "A regular expression has %d bytes, more than the limit of %d.", len(text),
			maxPatternBytes)
		return
	}
	options := regexp2.None
	for _, m := range modifiers {
		option, ok := regexOptions[m]
		if !ok {
			x.err = fault.New(fault.Invalid, "The modifiers %q of a regular expression are not of i, m, s and x.",
				modifiers)
			return
		}
		options |= option
	}
	x.compiled, x.err = pattern.Compile(x.pattern, options, patternTime)
}

// failed ends the query if matching has not completed.
func (x *regex) failed(c *Call, err error) doc.Value {
	if errors.Is(err, regexp2.ErrBacktrackingStackLimit) {
		return c.Fail(fault.New(fault.Invalid, "The regular expression %q takes too much memory on a value.",
			x.pattern))
	}
	return c.Fail(fault.New(fault.Invalid,
		"The regular expression %q takes more than %v on a value. Match shorter values.", x.pattern, patternTime))
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

// regexExtract is undefined without a match, or without such a group in it.
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

// regexExtractAll omits matches in which the group does not take part.
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

// groupOf is the text of a group; group 0 is the whole match.
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

// regexReplace returns a function that replaces up to limit matches, or all if limit is -1. In the replacement $1 is
// a group and $$ is a dollar sign.
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

// appendReplacement stops once the text is too long.
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
