package schema

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

// ReadOptions reads the options of a container, in the form in which listCollections shows them; nil for none.
func (r *Request) ReadOptions(name string) (doc.Doc, error) {
	if err := refuseKinds(r); err != nil {
		return nil, err
	}
	if err := checkIdentityIndex(r); err != nil {
		return nil, err
	}
	if err := r.CheckCollation("collation"); err != nil {
		return nil, err
	}
	r.Document("storageEngine")
	r.Document("indexOptionDefaults")
	a := doc.NewWriter(nil)
	if err := readViewOptions(r, a, name); err != nil {
		return nil, err
	}
	if err := readValidationOptions(r, a, ""); err != nil {
		return nil, err
	}
	if a.Size() == len(doc.Empty)-1 {
		return nil, r.Err
	}
	return a.End(), r.Err
}

// refuseKinds refuses kinds of collections that mayfly does not have, such as capped and time-series collections.
func refuseKinds(r *Request) error {
	capped := r.Bool("capped", false)
	clustered, series := r.Get("clusteredIndex").Type != 0, r.Get("timeseries").Type != 0
	size := r.Get("size").Type != 0 || r.Get("max").Type != 0
	images := r.Document("changeStreamPreAndPostImages")
	switch {
	case r.Err != nil:
		return r.Err
	case capped && r.Get("size").Type == 0:
		return code.New(code.InvalidOptions, "the 'size' field is required when 'capped' is true")
	case capped:
		return code.Unsupported("a capped collection")
	case size:
		return code.New(code.InvalidOptions,
			"the 'capped' field needs to be true when either the 'size' or 'max' fields are present")
	case series:
		return code.Unsupported("a time-series collection")
	case clustered:
		return code.Unsupported("a clustered collection")
	case r.Get("encryptedFields").Type != 0:
		return code.Unsupported("a collection with encryptedFields")
	case r.Get("expireAfterSeconds").Type != 0:
		return code.New(code.InvalidOptions, "'expireAfterSeconds' is only supported on time-series collections "+
			"or when the 'clusteredIndex' option is specified")
	case call.IsTrue(doc.Lookup(images, "enabled")) || r.Bool("recordPreImages", false):
		return code.Unsupported("a collection with changeStreamPreAndPostImages")
	}
	return nil
}

// checkIdentityIndex refuses any index on _id that differs from the one that every collection has.
func checkIdentityIndex(r *Request) error {
	if !r.Bool("autoIndexId", true) {
		return code.New(code.InvalidOptions,
			"autoIndexId:false is not allowed for collections in databases other than 'local'")
	}
	spec := r.Document("idIndex")
	if spec == nil || r.Err != nil {
		return r.Err
	}
	key, ok := doc.AsDoc(doc.Lookup(spec, "key"))
	if !ok || !samePattern(key, bsoncore.NewDocumentBuilder().AppendInt32("_id", 1).Build()) {
		return code.New(code.BadValue,
			"The field 'key' for an _id index must be {_id: 1}, but got %s", code.Show(doc.Lookup(spec, "key")))
	}
	d, _ := doc.AsDoc(doc.Lookup(spec, "collation"))
	return call.CheckCollation(d)
}

// readViewOptions writes viewOn and pipeline.
func readViewOptions(r *Request, a *doc.Writer, name string) error {
	on, stages := r.String("viewOn"), r.List("pipeline")
	switch {
	case r.Err != nil:
		return r.Err
	case r.Get("viewOn").Type == 0 && r.Get("pipeline").Type != 0:
		return code.New(code.InvalidOptions, "'pipeline' requires 'viewOn' to also be specified")
	case r.Get("viewOn").Type == 0:
		return nil
	}
	for _, other := range []string{
		"validator", "validationLevel", "validationAction", "idIndex", "autoIndexId", "storageEngine",
	} {
		if r.Get(other).Type != 0 {
			return code.New(code.InvalidOptions, "option not supported on a view: %s", other)
		}
	}
	if err := checkView(r.Node, r.NewNames(), r.DB, name, on, stages); err != nil {
		return err
	}
	writeViewOptions(a, on, stages)
	return nil
}

func writeViewOptions(a *doc.Writer, on string, stages []doc.Value) {
	a.String("viewOn", on)
	a.Array("pipeline")
	for _, stage := range stages {
		a.Value(a.Index(), stage)
	}
	a.Close()
}

// readValidationOptions writes the rules for documents; under is what the messages call the place of a rule.
func readValidationOptions(r *Request, a *doc.Writer, under string) error {
	rules, level, action := r.Document("validator"), r.String("validationLevel"), r.String("validationAction")
	switch {
	case r.Err != nil:
		return r.Err
	case level != "" && level != "off" && level != "strict" && level != "moderate":
		return code.New(code.BadValue,
			"Enumeration value '%s' for field '%s.validationLevel' is not a valid value.", level, r.Name+under)
	case action != "" && action != "error" && action != "warn":
		return code.New(code.BadValue,
			"Enumeration value '%s' for field '%s.validationAction' is not a valid value.", action, r.Name+under)
	case rules != nil && (r.DB == "admin" || r.DB == "local" || r.DB == "config"):
		return code.New(code.InvalidOptions,
			"Document validators are not allowed on collections in the %s database", r.DB)
	}
	if rules != nil {
		if _, err := write.CompileRules(r.NewNames(), bytes.Clone(rules)); err != nil {
			return err
		}
		a.Doc("validator", rules)
	}
	if level != "" {
		a.String("validationLevel", level)
	}
	if action != "" {
		a.String("validationAction", action)
	}
	return nil
}
