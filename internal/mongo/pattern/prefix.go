package pattern

// A prefix collects the characters that every text with a match begins with. It is careful: it
// ends where there may be a choice.
type prefix struct {
	taken   []byte
	last    []byte // the last character, which may turn out to be optional
	state   prefixState
	tail    bool // only .* follows
	useless bool // the pattern has alternatives
}

type prefixState uint8

const (
	beforeStart prefixState = iota // nothing read yet
	collecting
	dotted // .  read
	closed
)

// start is \A, or ^ where it means that.
func (x *prefix) start() {
	if x.state == beforeStart {
		x.state = collecting
		return
	}
	x.close()
}

// literal is a character that stands for itself only.
func (x *prefix) literal(r rune) {
	if x.state != collecting {
		x.close()
		return
	}
	x.taken = append(x.taken, x.last...)
	x.last = append(x.last[:0], string(r)...)
}

// dot is any character.
func (x *prefix) dot() {
	if x.state != collecting {
		x.close()
		return
	}
	x.taken, x.last = append(x.taken, x.last...), nil
	x.state = dotted
}

// quantifier repeats what was read last.
func (x *prefix) quantifier(least int) {
	if x.state == dotted && least == 0 && !x.tail {
		x.tail = true
		return
	}
	if least == 0 && x.state == collecting {
		x.last = nil
	}
	x.close()
}

// close is anything else.
func (x *prefix) close() {
	x.taken, x.last = append(x.taken, x.last...), nil
	x.state, x.tail = closed, false
}

// alternative is a choice for the whole pattern.
func (x *prefix) alternative() { x.useless = true }

func (x *prefix) text() string {
	if x.useless || x.state == beforeStart {
		return ""
	}
	return string(x.taken) + string(x.last)
}

func (x *prefix) exact() bool {
	return !x.useless && (x.state == collecting || x.state == dotted && x.tail)
}
