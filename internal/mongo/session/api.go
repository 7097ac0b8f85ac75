package session

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// An API is what a client says of the Stable API. Requests that belong together must say the same.
type API struct {
	Version             string // "" for none
	strict, Deprecation Given
}

// A Given is a boolean that may be missing, which is not the same as false.
type Given uint8

const (
	notGiven Given = iota
	givenFalse
	GivenTrue // it is there, and true
)

// Read takes in one of the parameters.
// mongodb/mongo: src/mongo/db/initialize_api_parameters.cpp, for all texts here
func (p *API) Read(name string, v doc.Value) error {
	if name == "apiVersion" {
		s, ok := doc.AsString(v)
		if !ok {
			return code.WrongType("APIParametersFromClient."+name, v, "string")
		}
		if p.Version = "1"; s != p.Version {
			return code.New(code.APIVersionError, "API version must be \"1\"")
		}
		return nil
	}
	on, ok := doc.AsBool(v)
	if !ok {
		return code.WrongType("APIParametersFromClient."+name, v, "bool")
	}
	to := &p.strict
	if name == "apiDeprecationErrors" {
		to = &p.Deprecation
	}
	if *to = givenFalse; on {
		*to = GivenTrue
	}
	return nil
}

// Doc shows the parameters, as errors do.
func (p API) Doc() doc.Doc {
	a := doc.NewWriter(nil)
	if p.Version != "" {
		a.String("apiVersion", p.Version)
	}
	if p.strict != notGiven {
		a.Bool("apiStrict", p.strict == GivenTrue)
	}
	if p.Deprecation != notGiven {
		a.Bool("apiDeprecationErrors", p.Deprecation == GivenTrue)
	}
	return a.End()
}

// Strict reports whether the client wants nothing but the Stable API.
func (o *Operation) Strict() bool { return o.API.strict == GivenTrue }

// NewNames begins with no variables, for what the client sends to be compiled.
func (o *Operation) NewNames() *expression.Names {
	names := expression.NewNames
	if o.Strict() {
		names = expression.NewStableNames
	}
	n := names()
	n.StopBy(o.Work().Stop)
	return n
}
