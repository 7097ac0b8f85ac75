package expression

import "strings"

// guess reads the common ways to write a date: ISO 8601, 07/04/2017, 4 July 2017, July 4th, 2017 11am, Tue, 04 Jul 2017
// 11:34:25 +0200 and similar ones. It does not know words such as "tomorrow".
func (r *dateReader) guess() error {
	if strings.TrimSpace(r.text) == "" {
		return r.fail(0, "Empty string")
	}
	for {
		r.skip(" \t,")
		c := r.peek()
		var err error
		switch {
		case r.at >= len(r.text):
			return nil
		case isDigit(c):
			err = r.digits()
		case isLetter(c):
			err = r.letters()
		case (c == '+' || c == '-') && r.hour != unset:
			err = r.oneZone()
		default:
			err = r.fail(r.at, "Unexpected character")
		}
		if err != nil {
			return err
		}
	}
}

// oneZone reads a zone. A second one is an error.
func (r *dateReader) oneZone() error {
	if r.zone != noZone {
		return r.fail(r.at, "Double timezone specification")
	}
	return r.timezone()
}

// letters reads a month and what follows it, a weekday, the T before a time, or a zone.
func (r *dateReader) letters() error {
	start := r.at
	word := r.word()
	if month := monthOf(word); month != 0 {
		return r.monthFirst(start, month)
	}
	if _, ok := weekday(word); ok {
		r.skip(".")
		return nil
	}
	if word == "t" && r.hour == unset && isDigit(r.peek()) {
		return r.time()
	}
	r.at = start
	return r.oneZone()
}

// monthFirst reads what follows a month: "July 4th, 2017", "Jul-04-2017" or "July 2017".
func (r *dateReader) monthFirst(start, month int) error {
	r.skip(" \t.-")
	n, digits := r.number(4)
	if digits == 3 || digits == 0 {
		return r.setDate(start, unset, month, 1)
	}
	if digits == 4 {
		return r.setDate(start, n, month, 1)
	}
	r.ordinal()
	return r.setDate(start, r.yearAfter(" \t,.-"), month, n)
}

// ordinal skips the letters of 4th.
func (r *dateReader) ordinal() {
	for _, ending := range [...]string{"st", "nd", "rd", "th"} {
		if strings.HasPrefix(strings.ToLower(r.text[r.at:min(r.at+2, len(r.text))]), ending) {
			r.at += 2
			return
		}
	}
}

// yearAfter reads a year of four digits after separators. It returns unset if there is none.
func (r *dateReader) yearAfter(separators string) int {
	start := r.at
	r.skip(separators)
	if n, digits := r.number(4); digits == 4 && r.peek() != ':' && !isDigit(r.peek()) {
		return n
	}
	r.at = start
	return unset
}

func (r *dateReader) setDate(start, year, month, day int) error {
	if r.month != unset {
		return r.fail(start, "Double date specification")
	}
	if month < 1 || month > 12 || day > 31 {
		return r.fail(start, "Unexpected character")
	}
	r.year, r.month, r.day = year, month, day
	return nil
}

// digits reads a date or a time. The number of digits and what follows them decide which.
func (r *dateReader) digits() error {
	start := r.at
	n, digits := r.number(15)
	next := r.peek()
	switch {
	case digits <= 2 && (next == ':' || r.halfDay()), r.month != unset && r.hour == unset && digits != 4:
		r.at = start
		return r.time()
	case digits == 4 && (next == '-' || next == '/' || next == '.'):
		return r.yearFirst(start, n, next)
	case digits == 4 && next|0x20 == 'w':
		return r.week(start, n)
	case digits == 8:
		return r.setDate(start, n/10000, n/100%100, n%100)
	case digits == 14 && r.hour == unset:
		r.hour, r.minute, r.second = n/10000%100, n/100%100, n%100
		return r.setDate(start, n/10000_000000, n/100_000000%100, n/1000000%100)
	case digits == 7:
		return r.ordinalDate(start, n/1000, n%1000)
	case digits == 4 && r.month != unset && r.year == unset:
		r.year = n
		return nil
	case digits == 4 && r.hour == unset: // as in timelib, which MongoDB uses, 2017 is a time
		r.hour, r.minute, r.second = n/100, n%100, 0
		return nil
	case digits <= 2:
		return r.dayFirst(start, n, next)
	}
	return r.fail(start, "Unexpected character")
}

// halfDay reports whether am or pm follows. It does not advance r.
func (r *dateReader) halfDay() bool {
	rest := strings.ToLower(strings.TrimLeft(r.text[r.at:min(len(r.text), r.at+8)], " "))
	return len(rest) >= 2 && (rest[0] == 'a' || rest[0] == 'p') && (rest[1] == 'm' || strings.HasPrefix(rest[1:], ".m"))
}

// yearFirst reads 2017-07-04, 2017/7/4, 2017-07, 2017-185 and 2017-W27-2.
func (r *dateReader) yearFirst(start, year int, separator byte) error {
	r.at++
	if r.peek()|0x20 == 'w' {
		return r.week(start, year)
	}
	n, digits := r.number(3)
	switch {
	case digits == 3:
		return r.ordinalDate(start, year, n)
	case digits == 0:
		return r.fail(r.at, "Unexpected character")
	case r.peek() != separator:
		return r.setDate(start, year, n, 1)
	}
	r.at++
	day, digits := r.number(2)
	if digits == 0 {
		return r.fail(r.at, "Unexpected character")
	}
	return r.setDate(start, year, n, day)
}

// week reads W27-2 or W272 after a year.
func (r *dateReader) week(start, year int) error {
	r.at++
	week, digits := r.number(2)
	if digits != 2 || week < 1 || week > 53 || r.month != unset {
		return r.fail(start, "Unexpected character")
	}
	r.skip("-")
	day, digits := r.number(1)
	if digits == 0 {
		day = 1
	}
	r.isoYear, r.isoWeek, r.isoOn = year, week, day
	r.isoDate()
	return nil
}

func (r *dateReader) ordinalDate(start, year, day int) error {
	if r.month != unset || day < 1 || day > 366 {
		return r.fail(start, "Unexpected character")
	}
	r.year = year
	r.dayOfYear(day)
	return nil
}

// dayFirst reads 07/04/2017, in which the month is first, and 04.07.2017, 04-07-2017, 4 July 2017 and 04-Jul-2017, in
// which the day is first.
func (r *dateReader) dayFirst(start, n int, next byte) error {
	r.ordinal()
	r.skip(" \t.-")
	if isLetter(r.peek()) {
		word := r.at
		if month := monthOf(r.word()); month != 0 {
			return r.setDate(start, r.yearAfter(" \t,.-"), month, n)
		}
		return r.fail(word, zoneInText)
	}
	if next == '/' {
		r.at++
	}
	second, digits := r.number(2)
	if digits == 0 || next != '/' && next != '.' && next != '-' {
		return r.fail(start, "Unexpected character")
	}
	year := unset
	if r.peek() == next {
		r.at++
		year, digits = r.number(4)
		switch {
		case digits == 2 && year < 70:
			year += 2000
		case digits == 2:
			year += 1900
		case digits != 4:
			return r.fail(start, "Unexpected character")
		}
	}
	if next == '/' {
		return r.setDate(start, year, n, second)
	}
	return r.setDate(start, year, second, n)
}

// time reads 11:34, 11:34:25.123, 113425, 11am and 11:34 p.m.
func (r *dateReader) time() error {
	start := r.at
	if r.hour != unset {
		return r.fail(start, "Double time specification")
	}
	n, digits := r.number(6)
	r.minute, r.second = 0, 0
	switch digits {
	case 6:
		n, r.minute, r.second = n/10000, n/100%100, n%100
	case 4:
		n, r.minute = n/100, n%100
	case 1, 2:
		if r.peek() != ':' && !r.halfDay() {
			return r.fail(start, "Unexpected character")
		}
	default:
		return r.fail(start, "Unexpected character")
	}
	r.hour = n
	for _, p := range []*int{&r.minute, &r.second} {
		if digits > 2 || r.peek() != ':' {
			break
		}
		r.at++
		var found int
		if *p, found = r.number(2); found == 0 {
			return r.fail(r.at, "Unexpected character")
		}
	}
	r.fraction()
	if r.halfDay() {
		return r.half(start)
	}
	return nil
}

// fraction reads the fraction of a second, up to microseconds.
func (r *dateReader) fraction() {
	if c := r.peek(); c != '.' && c != ',' || r.at+1 >= len(r.text) || !isDigit(r.text[r.at+1]) {
		return
	}
	r.at++
	for unit := 100_000; isDigit(r.peek()); unit /= 10 {
		r.micros += unit * int(r.peek()-'0')
		r.at++
	}
}

// half reads am or pm.
func (r *dateReader) half(start int) error {
	r.skip(" ")
	afternoon := r.peek()|0x20 == 'p'
	r.at++
	r.skip(".")
	r.at++
	r.skip(".")
	if r.hour < 1 || r.hour > 12 {
		return r.fail(start, "Unexpected character")
	}
	r.hour %= 12
	if afternoon {
		r.hour += 12
	}
	return nil
}
