package expression

// follow reads the text according to a format.
func (r *dateReader) follow(format string) error {
	yearDay := unset
	for i := 0; i < len(format); i++ {
		if r.at == len(r.text) {
			return r.fail(r.at, "Not enough data available to satisfy format")
		}
		if format[i] != '%' || format[i+1] == '%' {
			if r.peek() != format[i] {
				return r.fail(r.at, "The format separator does not match")
			}
			r.at++
			if format[i] == '%' {
				i++
			}
			continue
		}
		i++
		if err := r.part(format[i], &yearDay); err != nil {
			return err
		}
	}
	if r.at < len(r.text) {
		return r.fail(r.at, "Trailing data")
	}
	return r.complete(yearDay)
}

// complete checks and combines the parts once all are read.
func (r *dateReader) complete(yearDay int) error {
	iso := r.isoYear != unset || r.isoWeek != unset || r.isoOn != unset
	natural := r.year != unset || r.month != unset || r.day != unset
	switch {
	case iso && (natural || yearDay != unset):
		return r.fail(len(r.text), "Mixing of ISO dates with natural dates is not allowed")
	case iso && r.isoYear != unset:
		r.isoDate()
	case yearDay != unset && r.year != unset:
		r.dayOfYear(yearDay)
	}
	if r.hour != unset || r.minute != unset || r.second != unset {
		for _, p := range []*int{&r.hour, &r.minute, &r.second} {
			if *p == unset {
				*p = 0
			}
		}
	}
	return nil
}

// numeric has the parts that are numbers: their number of digits, and their name in errors.
var numeric = map[byte]struct {
	least, most int
	wrong       string
}{
	'd': {1, 2, "A two digit day could not be found"},
	'G': {4, 4, "A four digit ISO year could not be found"},
	'H': {1, 2, "A two digit hour could not be found"},
	'j': {1, 3, "A three digit day-of-year could not be found"},
	'L': {1, 3, "A three digit millisecond could not be found"},
	'm': {1, 2, "A two digit month could not be found"},
	'M': {2, 2, "A two digit minute could not be found"},
	'S': {2, 2, "A two digit second could not be found"},
	'u': {1, 1, "A single digit ISO day-of-week could not be found"},
	'V': {1, 2, "A two digit ISO week could not be found"},
	'Y': {4, 4, "A four digit year could not be found"},
}

func (r *dateReader) part(letter byte, yearDay *int) error {
	start := r.at
	switch letter {
	case 'b', 'B':
		if r.month = monthOf(r.word()); r.month == 0 {
			return r.fail(start, "A textual month could not be found")
		}
		return nil
	case 'z':
		if c := r.peek(); !isLetter(c) && c != '+' && c != '-' {
			return r.fail(start, "The timezone could not be found in the database")
		}
		return r.timezone()
	case 'Z':
		return r.offsetInMinutes()
	}
	p := numeric[letter]
	n, digits := r.number(p.most)
	if digits < p.least {
		return r.fail(start, p.wrong)
	}
	switch letter {
	case 'd':
		r.day = n
	case 'G':
		r.isoYear = n
	case 'H':
		r.hour = n
	case 'j':
		*yearDay = n
	case 'L':
		for ; digits < 6; digits++ {
			n *= 10
		}
		r.micros = n
	case 'm':
		r.month = n
	case 'M':
		r.minute = n
	case 'S':
		r.second = n
	case 'u':
		r.isoOn = n
	case 'V':
		r.isoWeek = n
	case 'Y':
		r.year = n
	}
	return nil
}

// offsetInMinutes reads +120 or -90.
func (r *dateReader) offsetInMinutes() error {
	start, sign := r.at, 60
	switch r.peek() {
	case '-':
		sign = -60
		r.at++
	case '+':
		r.at++
	}
	n, digits := r.number(4)
	if digits == 0 {
		return r.fail(start, "Invalid timezone offset in minutes")
	}
	r.zone, r.offset = offsetZone, sign*n
	return nil
}
