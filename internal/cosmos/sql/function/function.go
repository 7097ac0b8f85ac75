// Package function has the system functions of Cosmos DB's query language, one
// file per family: pure functions of values, which know no query, no document
// and no clock.
package function

import (
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
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
	// Meter counts what the function does; nil counts nothing. What it fails with becomes Err.
	Meter *Meter
	// Err, once set, ends the query: for arguments that the service refuses.
	// Prefer Fail.
	Err error
}

// Fail ends the query with err, and gives undefined.
func (c *Call) Fail(err error) doc.Value {
	if c.Err == nil {
		c.Err = err
	}
	return doc.Value{}
}

// spend counts so many units of work, and reports that the query is to end. It is for loops that may be
// long, whatever their arguments: those of a call itself are counted where it is made.
func (c *Call) spend(units int) (stop bool) {
	if c.Meter != nil && !c.Meter.Spend(units) {
		c.Fail(c.Meter.Err)
	}
	return c.Err != nil
}

// ask asks at once whether the query is to end.
func (c *Call) ask() (stop bool) {
	if c.Meter != nil && !c.Meter.Ask() {
		c.Fail(c.Meter.Err)
	}
	return c.Err != nil
}

// spendBytes counts the work of reading so many bytes.
func (c *Call) spendBytes(n int) (stop bool) { return c.spend(1 + n/BytesPerUnit) }

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
