// Package failpoint makes commands fail as test suites of drivers ask: with an error, without an answer, or late. A
// fail point that is off costs a load of a pointer.
package failpoint

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// The fail points by which test suites of drivers make commands fail.
// https://github.com/mongodb/mongo/wiki/The-%22failCommand%22-fail-point
const (
	Command                    = iota // fails instead of the command
	GetMoreAfterCursorCheckout        // fails a getMore that has its cursor, and closes the cursor
	MaxTimeAlwaysTimeOut              // fails every request with maxTimeMS
	MaxTimeNeverTimeOut               // ignores maxTimeMS
	TransactionalWrite                // fails a retryable write, before or after it is done
)

var failPointNames = []string{
	Command: "failCommand", GetMoreAfterCursorCheckout: "failGetMoreAfterCursorCheckout",
	MaxTimeAlwaysTimeOut: "maxTimeAlwaysTimeOut", MaxTimeNeverTimeOut: "maxTimeNeverTimeOut",
	TransactionalWrite: "onPrimaryTransactionalWrite",
}

// Points are the fail points of a server. They are safe for concurrent use.
type Points struct {
	at [5]atomic.Pointer[Point] // by the constants above; nil if it is off

	mu      sync.Mutex
	entered [5]int64 // how often it has been hit since the start
}

// A Point says which commands fail, how often, and how.
type Point struct {
	times  int64   // how often it still fails; -1 for always
	skip   int64   // how many commands still pass first
	chance float64 // that a command fails, from 0 to 1

	commands  []string // nil for all that the kind of fail point is about
	appName   string   // "" for all
	namespace string   // "" for all

	Code   code.Code // 0 for none
	extra  doc.Doc   // further members of the error
	hangUp bool
	block  time.Duration
	call.Forced
}

// maxBlock bounds blockTimeMS.
const maxBlock = 10 * time.Minute

// Configure turns a fail point on or off, as a configureFailPoint says. aliases are older spellings of commands.
func (f *Points) Configure(r *call.Request, a *doc.Writer, aliases map[string]string) error {
	name, ok := doc.AsString(r.Arg)
	if !ok {
		return r.WrongType("configureFailPoint", r.Arg, "string")
	}
	kind := slices.Index(failPointNames, name)
	if kind < 0 {
		return code.New(code.FailPointSetFailed, "%.200s not found", name)
	}
	p := &Point{times: -1, chance: 1}
	on, err := p.readMode(doc.Lookup(r.Body, "mode"))
	if err == nil && on {
		err = p.readData(kind, bytes.Clone(r.Document("data")))
	}
	if err != nil || r.Err != nil {
		return cmp.Or(r.Err, err)
	}
	for i, name := range p.commands {
		p.commands[i] = cmp.Or(aliases[name], name)
	}
	if !on {
		p = nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at[kind].Store(p)
	a.Count("count", f.entered[kind])
	return nil
}

// readMode reads "off", "alwaysOn", {times: n}, {skip: n} or {activationProbability: p}.
func (p *Point) readMode(v doc.Value) (on bool, err error) {
	switch s, _ := doc.AsString(v); s {
	case "off":
		return false, nil
	case "alwaysOn":
		return true, nil
	}
	d, _ := doc.AsDoc(v)
	for name, v := range doc.Members(d) {
		n, ok := call.WholeOf(v)
		switch {
		case !ok || n < 0 || n > 1<<31-1:
			return false, code.New(code.BadValue, "'%.200s' field must be a number that is not negative", name)
		case name == "times":
			p.times = n
		case name == "skip":
			p.skip = n
		case name == "activationProbability":
			if p.chance, _ = doc.AsFloat(v); !(p.chance >= 0 && p.chance <= 1) {
				return false, code.New(code.BadValue,
					"activationProbability must be between 0.0 and 1.0; found %v", p.chance)
			}
		default:
			return false, code.New(code.BadValue,
				"'mode' must be one of 'times', 'skip', 'activationProbability'; found '%.200s'", name)
		}
		return p.times != 0, nil
	}
	return false, code.New(code.BadValue, "'mode' must be a string or a JSON object")
}

// readData reads which commands fail, and how.
func (p *Point) readData(kind int, d doc.Doc) error {
	switch kind {
	case Command:
		p.commands = []string{}
	case GetMoreAfterCursorCheckout:
		p.Code = code.InternalError
	case TransactionalWrite:
		p.hangUp = true
	}
	for name, v := range doc.Members(d) {
		ok := true
		switch name {
		case "failCommands":
			p.commands, ok = stringsOf(v)
		case "errorCode", "failBeforeCommitExceptionCode":
			var n int64
			n, ok = call.WholeOf(v)
			p.Code = code.Code(n)
		case "closeConnection":
			p.hangUp, ok = call.Truth(v)
		case "blockConnection":
			_, ok = call.Truth(v)
		case "blockTimeMS":
			var n int64
			n, ok = call.WholeOf(v)
			if on, _ := call.Truth(doc.Lookup(d, "blockConnection")); on {
				p.block = min(max(0, time.Duration(min(n, 1<<40))*time.Millisecond), maxBlock)
			}
		case "errorLabels":
			p.Labelled = true
			p.Labels, ok = stringsOf(v)
		case "writeConcernError":
			p.Concern, ok = doc.AsDoc(v)
		case "errorExtraInfo":
			p.extra, ok = doc.AsDoc(v)
		case "appName":
			p.appName, ok = doc.AsString(v)
		case "namespace":
			p.namespace, ok = doc.AsString(v)
		case "failInternalCommands", "failLocalClients", "threadName", "failAllCommands":
			// These distinguish commands that mayfly does not have.
		}
		if !ok {
			return code.New(code.TypeMismatch, "BSON field 'data.%s' is the wrong type '%s'", name, code.TypeName(v))
		}
	}
	return nil
}

func stringsOf(v doc.Value) (list []string, ok bool) {
	if v.Type != bsoncore.TypeArray {
		return nil, false
	}
	list = []string{} // not nil, which means all
	for element := range doc.Elements(v) {
		s, ok := doc.AsString(element)
		if !ok {
			return nil, false
		}
		list = append(list, s)
	}
	return list, true
}

// Hit gives a fail point if it is on and the request hits it, nil otherwise.
func (f *Points) Hit(r *call.Request, kind int) *Point {
	if p := f.at[kind].Load(); p != nil && p.matches(r) && f.enter(kind, p) {
		return p
	}
	return nil
}

// FailCommand makes the request fail if it hits Command.
func (f *Points) FailCommand(r *call.Request) error {
	p := f.Hit(r, Command)
	if p == nil {
		return nil
	}
	if p.block > 0 {
		if err := clock.Pause(r.Context, p.block); err != nil {
			return err
		}
	}
	if p.Labelled || p.Concern != nil {
		r.Forced = &p.Forced
	}
	switch {
	case p.hangUp:
		return session.ErrHangUp
	case p.Code == 0:
		return nil
	}
	e := code.New(p.Code, "Failing command via 'failCommand' failpoint")
	e.Info = p.extra
	return e
}

// matches reports whether the fail point is about a request.
func (p *Point) matches(r *call.Request) bool {
	if r.Name == "configureFailPoint" || p.appName != "" && p.appName != r.Client.AppName() {
		return false
	}
	if p.namespace != "" {
		if name, _ := doc.AsString(r.Arg); r.DB+"."+name != p.namespace {
			return false
		}
	}
	return p.commands == nil || slices.Contains(p.commands, r.Name)
}

// enter counts one command that the fail point is about. It reports false if the command passes.
func (f *Points) enter(kind int, p *Point) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.at[kind].Load() != p:
		return false
	case p.skip > 0:
		p.skip--
		return false
	case p.chance < 1 && rand.Float64() >= p.chance:
		return false
	case p.times > 0:
		if p.times--; p.times == 0 {
			f.at[kind].Store(nil)
		}
	}
	f.entered[kind]++
	return true
}

// BeforeWrite asks onPrimaryTransactionalWrite before a retryable write is done.
// mongodb/specifications: source/retryable-writes/tests/README.md
func (f *Points) BeforeWrite(r *call.Request) error {
	p := f.at[TransactionalWrite].Load()
	if p == nil || p.Code == 0 || !r.Retryable() || f.Hit(r, TransactionalWrite) == nil {
		return nil
	}
	if p.hangUp {
		return session.ErrHangUp
	}
	return code.New(p.Code,
		"Failing write for %s:%d due to failpoint. The write must not be reflected.", r.Session.Shown(), r.TxnNumber)
}

// AfterWrite asks it when the write is done. It reports whether the client must not get its answer.
func (f *Points) AfterWrite(r *call.Request) (severed bool) {
	p := f.at[TransactionalWrite].Load()
	return p != nil && p.Code == 0 && r.Retryable() && f.Hit(r, TransactionalWrite) != nil && p.hangUp
}
