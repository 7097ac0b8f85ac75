package command

import (
	"cmp"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/monitor"
	"github.com/mayflydb/mayfly/internal/mongo/query"
)

// defaultSlow is MongoDB's slowms. Clients see it while mayfly logs no slow requests.
const defaultSlow = 100 * time.Millisecond

// profile shows and sets which requests of a database are recorded; the level -1 asks without changing it. At level 0
// slowms says which requests of the server are logged, as --slow does.
// https://www.mongodb.com/docs/v7.0/reference/command/profile/
// mongodb/mongo: src/mongo/db/commands/profile_common.cpp
func profile(r *request, a *answer) error {
	was := r.s.monitor.Profiler.Settings(r.DB, cmp.Or(r.s.monitor.Slow(), defaultSlow))
	if was.Level == 0 {
		was.Slow = cmp.Or(r.s.monitor.Slow(), defaultSlow)
	}
	next, changes, err := readProfile(r, was)
	if err != nil {
		return err
	}
	if changes {
		err = setProfile(r, next)
	} else {
		err = query.MayReadProfile(&r.Request, r.DB)
	}
	if err != nil {
		return err
	}
	a.Int32("was", was.Level)
	a.Int32("slowms", int(was.Slow/time.Millisecond))
	a.Double("sampleRate", was.Rate)
	if was.Filter != nil {
		a.Doc("filter", was.Filter)
	}
	if was.Filter != nil || next.Filter != nil {
		a.String("note", "When a filter expression is set, slowms and sampleRate are not used for profiling.")
	}
	return nil
}

// readProfile reads what the command makes of the settings. changes is false when it only asks for them.
func readProfile(r *request, s monitor.ProfileSettings) (_ monitor.ProfileSettings, changes bool, err error) {
	level, ok := call.WholeOf(r.Arg)
	if !ok {
		return s, false, r.WrongType("profile", r.Arg, "int")
	}
	if level >= 0 && level <= 2 {
		s.Level, changes = int(level), true
	}
	if r.Get("slowms").Type != 0 {
		s.Slow = time.Duration(min(r.Int("slowms", 0, 0), maxSlow)) * time.Millisecond
		changes = true
	}
	if v := r.Get("sampleRate"); v.Type != 0 {
		if s.Rate, ok = doc.AsFloat(v); !ok {
			return s, false, r.WrongType("sampleRate", v, "[double, decimal, int, long]")
		}
		if !(s.Rate >= 0 && s.Rate <= 1) {
			return s, false, code.New(code.BadValue, "'sampleRate' must be between 0.0 and 1.0 inclusive")
		}
		changes = true
	}
	if v := r.Get("filter"); v.Type != 0 {
		if text, _ := doc.AsString(v); text == "unset" {
			s.Filter = nil
		} else if s.Filter, ok = doc.AsDoc(v); !ok {
			return s, false, code.New(code.BadValue, "Expected an object, or the string 'unset'.")
		}
		changes = true
	}
	return s, changes, r.Err
}

// setProfile changes the settings. Those of level 0 are about the log of the whole server.
func setProfile(r *request, s monitor.ProfileSettings) error {
	logs := s.Level == 0 && r.Get("slowms").Type != 0
	if !logs {
		if err := r.May(account.Maintain, r.DB); err != nil {
			return err
		}
	} else if err := r.May(account.Administer, ""); err != nil {
		return err
	}
	if err := r.s.monitor.Profiler.SetSettings(r.DB, s); err != nil {
		return err
	}
	if logs {
		r.s.monitor.SetSlow(max(1, s.Slow))
	}
	return nil
}

// dropProfile forgets the records and the settings of a database.
// mongodb/mongo: src/mongo/db/catalog/drop_collection.cpp
func dropProfile(r *request, a *answer) error {
	p := &r.s.monitor.Profiler
	if p.Settings(r.DB, 0).Level > 0 {
		return code.New(code.IllegalOperation, "turn off profiling before dropping system.profile collection")
	}
	existed := p.Has(r.DB, account.ProfileContainer)
	p.Drop(r.DB) // without records there may be settings, which count, too
	if !existed {
		return nil
	}
	a.String("ns", r.DB+"."+account.ProfileContainer)
	return nil
}

// maxSlow bounds slowms, in milliseconds.
const maxSlow = 1<<31 - 1
