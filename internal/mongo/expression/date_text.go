package expression

import (
	"fmt"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/mongo/code"
)

const unset = -1 << 31

// A dateReader parses the text of a date and collects its parts.
type dateReader struct {
	text string
	at   int

	year, month, day        int
	isoYear, isoWeek, isoOn int
	hour, minute, second    int
	micros                  int

	zone   zoneKind
	offset int // seconds
	abbr   string
}

type zoneKind uint8

const (
	noZone zoneKind = iota
	offsetZone
	namedZone
)

// maxDateText limits the text of a date, in bytes.
const maxDateText = 1024

// parseDate parses the text of a date, in a format that checkFormat has accepted, else in any common notation. Its
// error is ConversionFailure.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/dateFromString/
func parseDate(text, format string, formatted bool, z *zone) (ms int64, err error) {
	r := dateReader{text: text, year: unset, month: unset, day: unset, hour: unset, minute: unset, second: unset,
		isoYear: unset, isoWeek: unset, isoOn: unset}
	switch {
	case len(text) > maxDateText:
		err = r.fail(maxDateText, "Double date specification")
	case formatted:
		err = r.follow(format)
	default:
		err = r.guess()
	}
	if err != nil {
		return 0, err
	}
	return r.instant(z)
}

// fail is an error about a position in the text.
func (r *dateReader) fail(at int, what string) error {
	text, c := r.text, byte(0)
	if at < len(text) {
		c = text[at]
	}
	if len(text) > maxShown {
		text = text[:maxShown] + "..."
	}
	message := fmt.Sprintf("Error parsing date string '%s'; %d: %s '%s'", text, at, what, charText(c))
	return code.New(code.ConversionFailure, "%s", strings.ToValidUTF8(message, "?"))
}

// charText is a byte as messages show it, or "" at the end of the text.
func charText(c byte) string {
	if c == 0 {
		return ""
	}
	return string([]byte{c})
}

// instant is the instant that the text names, in zone z unless the text names another.
func (r *dateReader) instant(z *zone) (int64, error) {
	if r.hour == unset && r.minute == unset && r.second == unset {
		r.hour, r.minute, r.second = 0, 0, 0
	}
	if r.year == unset || r.month == unset || r.day == unset || r.hour == unset || r.minute == unset ||
		r.second == unset {
		return 0, code.New(code.ConversionFailure,
			"an incomplete date/time string has been found, with elements missing: \"%s\"", r.text)
	}
	if !z.isUTC {
		switch r.zone {
		case offsetZone:
			return 0, code.New(code.ConversionFailure,
				"you cannot pass in a date/time string with GMT offset together with a timezone argument")
		case namedZone:
			return 0, code.New(code.ConversionFailure,
				"you cannot pass in a date/time string with time zone information ('%s') together with a timezone "+
					"argument", r.abbr)
		}
	}
	midnight := time.Date(r.year, time.Month(r.month), r.day, 0, 0, 0, 0, time.UTC)
	if _, month, _ := midnight.Date(); int(month) != r.month || r.day < 1 {
		return 0, r.fail(len(r.text), "The parsed date was invalid")
	}
	if r.hour > 23 || r.minute > 59 || r.second > 59 {
		return 0, r.fail(len(r.text), "The parsed time was invalid")
	}
	seconds := midnight.Unix() + int64(r.hour*3600+r.minute*60+r.second)
	if r.zone == noZone {
		seconds = z.instant(seconds)
	} else {
		seconds -= int64(r.offset)
	}
	return seconds*1000 + int64(r.micros/1000), nil
}

// peek is the next byte, 0 at the end.
func (r *dateReader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

// skip goes beyond any of the given characters.
func (r *dateReader) skip(chars string) {
	for r.at < len(r.text) && contains(chars, r.text[r.at]) {
		r.at++
	}
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// number reads up to most digits.
func (r *dateReader) number(most int) (n, digits int) {
	for digits < most && isDigit(r.peek()) {
		n = n*10 + int(r.text[r.at]-'0')
		r.at++
		digits++
	}
	return n, digits
}

// word reads letters, in lower case.
func (r *dateReader) word() string {
	start := r.at
	for isLetter(r.peek()) {
		r.at++
	}
	return strings.ToLower(r.text[start:r.at])
}

// monthOf is a month by its name or the first three letters of it, or 0.
func monthOf(word string) int {
	if word == "sept" {
		return 9
	}
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		if word == name || word == name[:3] {
			return int(m)
		}
	}
	return 0
}

// abbreviations are the abbreviated zones that a text may name, with their offsets in minutes.
var abbreviations = map[string]int{
	"utc": 0, "gmt": 0, "z": 0, "wet": 0, "west": 60, "bst": 60, "cet": 60, "cest": 120, "eet": 120, "eest": 180,
	"msk": 180,
	"est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420, "mdt": -360, "pst": -480, "pdt": -420,
	"akst": -540, "akdt": -480, "hst": -600, "jst": 540, "aest": 600, "aedt": 660, "nzst": 720, "nzdt": 780,
}

const zoneInText = "passing a time zone identifier as part of the string is not allowed"

// timezone reads Z, GMT, an abbreviation, or an offset such as +02:00, +0200 or GMT+2.
func (r *dateReader) timezone() error {
	start := r.at
	if isLetter(r.peek()) {
		word := r.word()
		minutes, ok := abbreviations[word]
		switch {
		case !ok || r.peek() == '/' || r.peek() == '_':
			return r.fail(start, zoneInText)
		case word != "gmt" && word != "utc" || r.peek() != '+' && r.peek() != '-':
			r.zone, r.offset, r.abbr = namedZone, minutes*60, strings.ToUpper(word)
			return nil
		}
	}
	sign := 1
	if r.peek() == '-' {
		sign = -1
	}
	r.at++
	hours, digits := r.number(4)
	minutes := 0
	if digits > 2 {
		hours, minutes = hours/100, hours%100
	} else if digits > 0 && r.peek() == ':' {
		r.at++
		if minutes, digits = r.number(2); digits != 2 {
			return r.fail(start, "Unexpected character")
		}
	}
	if digits == 0 || hours > 99 || minutes > 59 {
		return r.fail(start, "The timezone could not be found in the database")
	}
	r.zone, r.offset = offsetZone, sign*(hours*3600+minutes*60)
	return nil
}

// isoDate sets the day from the parts of a week date.
func (r *dateReader) isoDate() {
	if r.isoWeek == unset {
		r.isoWeek = 1
	}
	if r.isoOn == unset {
		r.isoOn = 1
	}
	year, month, day := isoDay(r.isoYear, r.isoWeek, r.isoOn).Date()
	r.year, r.month, r.day = year, int(month), day
}

// dayOfYear sets the day from a number, starting at 1.
func (r *dateReader) dayOfYear(n int) {
	year, month, day := time.Date(r.year, time.January, n, 0, 0, 0, 0, time.UTC).Date()
	r.year, r.month, r.day = year, int(month), day
}
