package pattern

// A prefix collects the characters that every matching text begins with. It ends at the first item that may match in
// more than one way.
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

// start notes \A, or a ^ with the same meaning.
func (x *prefix) start() {
	if x.state == beforeStart {
		x.state = collecting
		return
	}
	x.close()
}

// literal notes a character that matches only itself.
func (x *prefix) literal(r rune) {
	if x.state != collecting {
		x.close()
		return
	}
	x.taken = append(x.taken, x.last...)
	x.last = append(x.last[:0], string(r)...)
}

// dot notes an item that matches any character.
func (x *prefix) dot() {
	if x.state != collecting {
		x.close()
		return
	}
	x.taken, x.last = append(x.taken, x.last...), nil
	x.state = dotted
}

// quantifier notes that the last item is repeated, at least that often.
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

// close notes any other item.
func (x *prefix) close() {
	x.taken, x.last = append(x.taken, x.last...), nil
	x.state, x.tail = closed, false
}

// alternative notes a | outside of all groups.
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
