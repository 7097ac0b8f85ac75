// Package function has the built-in functions of Cosmos DB's query language, one file per family: pure functions of
// values, without access to queries, documents or clocks.
package function

import (
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A Function is one built-in function.
type Function struct {
	Name     string // as in Microsoft's reference, in upper case: ARRAY_CONTAINS
	Family   string // the page of the reference: "Array"
	Min, Max int    // number of arguments; a negative Max means no limit

	// Run computes the result. It is undefined if an argument has a wrong type, as the reference documents for each
	// function. Arguments and result may share memory and are valid until the next row.
	Run func(c *Call, args []doc.Value) doc.Value

	// Volatile reports that results differ between calls with the same arguments (RAND), so that a call is not
	// constant. The current time is constant within one request.
	Volatile bool

	// Note is a known difference from the service, or "".
	Note string
}

// A Call is one place in a query where a function is called. It is created once per execution, and is not safe for
// concurrent use.
type Call struct {
	Now time.Time // the time of the request
	// Memo is for the function to cache what it derives from constant arguments, such as a compiled pattern.
	Memo any
	// Meter counts the function's work. It may be nil. Its error becomes Err.
	Meter *Meter
	// Err, if set, ends the query: for arguments that the service rejects. Prefer Fail.
	Err error
}

// Fail ends the query with err, and returns undefined.
func (c *Call) Fail(err error) doc.Value {
	if c.Err == nil {
		c.Err = err
	}
	return doc.Value{}
}

// spend counts units of work, and reports that the query must end. It is for loops that may be long whatever their
// arguments are; the compiler counts the arguments of a call.
func (c *Call) spend(units int) (stop bool) {
	if c.Meter != nil && !c.Meter.Spend(units) {
		c.Fail(c.Meter.Err)
	}
	return c.Err != nil
}

// ask checks immediately whether the query must end.
func (c *Call) ask() (stop bool) {
	if c.Meter != nil && !c.Meter.Ask() {
		c.Fail(c.Meter.Err)
	}
	return c.Err != nil
}

// spendBytes counts the work of reading n bytes.
func (c *Call) spendBytes(n int) (stop bool) { return c.spend(1 + n/BytesPerUnit) }

// Lookup finds a function by name, in any letter case.
func Lookup(name string) (*Function, bool) {
	f, ok := byName[strings.ToUpper(name)]
	return f, ok
}

// All lists every function, by family, in the order of the family's file.
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
