package script

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/dop251/goja"
)

// exception describes a value thrown by a script. Describing it may run code of the script, which may throw again.
func (r *run) exception(v goja.Value, stack []goja.StackFrame) *Exception {
	if v == nil {
		v = goja.Undefined()
	}
	what, number := "", 0
	err := r.try(func() {
		what = r.describe(v)
		if o, ok := v.(*goja.Object); ok {
			number = numberOf(o.Get("number"))
		}
	})
	if err != nil && what == "" {
		what = "an object that cannot be described"
	}
	return thrown("executing", clip(what), trace(stack), number)
}

// try calls f, which may run code of the script, and returns what it has thrown, also if the stack is full. It panics
// again if the script must stop.
func (r *run) try(f func()) error {
	err := recovered(func() error {
		if thrown := r.rt.Try(f); thrown != nil {
			return thrown
		}
		return nil
	})
	if stopped, ok := errors.AsType[*goja.InterruptedError](err); ok {
		panic(stopped)
	}
	return err
}

// describe is the text of an error, or the JSON of another object.
func (r *run) describe(v goja.Value) string {
	o, ok := v.(*goja.Object)
	if !ok {
		return v.String()
	}
	if message := o.Get("message"); message != nil {
		name := "Error"
		if n := o.Get("name"); n != nil {
			name = n.String()
		}
		return name + ": " + message.String()
	}
	if text, ok := r.json(o); ok {
		return text
	}
	return o.String()
}

// maxNumber is the limit of error numbers that clients see.
const maxNumber = 1 << 20

func numberOf(v goja.Value) int {
	if v == nil || !goja.IsNumber(v) {
		return 0
	}
	if n := v.ToFloat(); n > 0 && n < maxNumber && n == math.Trunc(n) {
		return int(n)
	}
	return 0
}

// clip limits how much of a script's text an error repeats.
func clip(text string) string {
	const most = 4 << 10
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// trace renders the call stack of an error, innermost call first.
func trace(stack []goja.StackFrame) string {
	const most = 20
	var b strings.Builder
	lines := 0
	for _, frame := range stack {
		at := frame.Position()
		if frame.SrcName() == preludeName || at.Line == 0 {
			continue
		}
		if lines++; lines > most {
			break
		}
		name := frame.FuncName()
		if name == "" {
			name = "Anonymous function"
		}
		fmt.Fprintf(&b, "\n   at %s (%s:%d:%d)", name, frame.SrcName(), at.Line, at.Column)
	}
	return b.String()
}
