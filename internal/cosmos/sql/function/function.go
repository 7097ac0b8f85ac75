// Package function has the system functions of Cosmos DB's query language, one
// file per family: pure functions of values, which know no query, no document
// and no clock.
package function

import (
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A Function is one system function.
type Function struct {
	Name     string // as Microsoft's reference has it, in capitals: ARRAY_CONTAINS
	Family   string // the page of the reference: "Array"
	Min, Max int    // how many arguments; Max below 0 is no limit

	// Run computes the result; undefined where an argument is of a wrong type,
	// as the reference says for each. Arguments and result may share memory and
	// are valid until the next row.
	Run func(c *Call, args []doc.Value) doc.Value

	// Volatile results differ between calls with the same arguments (RAND), so
	// a call is no constant. Within one request the current time is one.
	Volatile bool

	// Note says what is missing or otherwise, "" if nothing is.
	Note string
}

// A Call is one place in a query where a function is called. It is made once
// for an execution, and used by one goroutine.
type Call struct {
	Now time.Time // the instant of the request
	// Memo is the function's to keep what it has made of constant arguments,
	// such as a compiled pattern.
	Memo any
	// Late, when not nil, is asked during long work: true ends the query with
	// fault.Timeout.
	Late func() bool
	// Err, once set, ends the query: for arguments that the service refuses.
	// Prefer Fail.
	Err error

	work int // see spend
}

// Fail ends the query with err, and gives undefined.
func (c *Call) Fail(err error) doc.Value {
	if c.Err == nil {
		c.Err = err
	}
	return doc.Value{}
}

// lateBytes is about how many bytes of work go by between looks at the clock.
const lateBytes = 1 << 20

// spend counts n bytes of work, and reports that the time of the query is up, which
// then has failed. It is for loops over large values in one another.
func (c *Call) spend(n int) (late bool) {
	if c.work += n; c.work < lateBytes {
		return c.Err != nil
	}
	c.work = 0
	return c.late()
}

// late reports that the time of the query is up, which then has failed.
func (c *Call) late() bool {
	if c.Late == nil || !c.Late() {
		return false
	}
	c.Fail(fault.New(fault.Timeout, "The query takes too long."))
	return true
}

// Lookup finds a function by name, in any case.
func Lookup(name string) (*Function, bool) {
	f, ok := byName[strings.ToUpper(name)]
	return f, ok
}

// All lists every function, by family, then as the family's file has them.
func All() []*Function {
	var all []*Function
	for _, family := range families {
		for i := range family {
			all = append(all, &family[i])
		}
	}
	return all
}

var byName = func() map[string]*Function {
	m := map[string]*Function{}
	for _, f := range All() {
		m[f.Name] = f
	}
	return m
}()
