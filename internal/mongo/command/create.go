package command

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

var createFields = fieldSet(`capped autoIndexId idIndex size max validator validationLevel validationAction viewOn
	pipeline collation storageEngine indexOptionDefaults timeseries expireAfterSeconds clusteredIndex encryptedFields
	changeStreamPreAndPostImages recordPreImages flags temp`)

func create(r *request, a *answer) error {
	name := r.collection()
	options, err := readCreateOptions(r, name)
	if err != nil {
		return err
	}
	if r.Transaction != nil {
		return createInTransaction(r, name, options)
	}
	_, err = write.CreateContainer(&r.Operation, r.db, name, options)
	if fault.KindOf(err) != fault.Exists {
		return err
	}
	c, err := r.Find(r.db, name)
	if c == nil || err != nil {
		return err
	}
	return sameOptions(c, options)
}

// createInTransaction creates a collection in a transaction. Unlike outside, a collection that exists is an error even
// if its options are the same.
func createInTransaction(r *request, name string, options doc.Doc) error {
	if err := mayShapeContainers(r); err != nil {
		return err
	}
	switch c, err := r.Find(r.db, name); {
	case err != nil:
		return err
	case doc.Lookup(options, "viewOn").Type != 0:
		return code.New(code.OperationNotSupportedInTransaction,
			"Cannot create a view in a multi-document transaction.")
	case c != nil:
		return code.New(code.NamespaceExists, "Collection %s.%s already exists.", r.db, name)
	}
	_, err := write.CreateContainer(&r.Operation, r.db, name, options)
	return err
}

// readCreateOptions reads the options of a container, in the form in which listCollections shows them; nil for none.
func readCreateOptions(r *request, name string) (doc.Doc, error) {
	if err := refuseKinds(r); err != nil {
		return nil, err
	}
	if err := checkIdentityIndex(r); err != nil {
		return nil, err
	}
	if err := r.checkCollation("collation"); err != nil {
		return nil, err
	}
	r.document("storageEngine")
	r.document("indexOptionDefaults")
	a := doc.NewWriter(nil)
	if err := readViewOptions(r, a, name); err != nil {
		return nil, err
	}
	if err := readValidationOptions(r, a, ""); err != nil {
		return nil, err
	}
	if a.Size() == len(doc.Empty)-1 {
		return nil, r.err
	}
	return a.End(), r.err
}

// refuseKinds refuses kinds of collections that mayfly does not have, such as capped and time-series collections.
func refuseKinds(r *request) error {
	capped := r.bool("capped", false)
	clustered, series := r.get("clusteredIndex").Type != 0, r.get("timeseries").Type != 0
	size := r.get("size").Type != 0 || r.get("max").Type != 0
	images := r.document("changeStreamPreAndPostImages")
	switch {
	case r.err != nil:
		return r.err
	case capped && r.get("size").Type == 0:
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
	case r.get("encryptedFields").Type != 0:
		return code.Unsupported("a collection with encryptedFields")
	case r.get("expireAfterSeconds").Type != 0:
		return code.New(code.InvalidOptions, "'expireAfterSeconds' is only supported on time-series collections "+
			"or when the 'clusteredIndex' option is specified")
	case isTrue(doc.Lookup(images, "enabled")) || r.bool("recordPreImages", false):
		return code.Unsupported("a collection with changeStreamPreAndPostImages")
	}
	return nil
}

// checkIdentityIndex refuses any index on _id that differs from the one that every collection has.
func checkIdentityIndex(r *request) error {
	if !r.bool("autoIndexId", true) {
		return code.New(code.InvalidOptions,
			"autoIndexId:false is not allowed for collections in databases other than 'local'")
	}
	spec := r.document("idIndex")
	if spec == nil || r.err != nil {
		return r.err
	}
	key, ok := doc.AsDoc(doc.Lookup(spec, "key"))
	if !ok || !samePattern(key, bsoncore.NewDocumentBuilder().AppendInt32("_id", 1).Build()) {
		return code.New(code.BadValue,
			"The field 'key' for an _id index must be {_id: 1}, but got %s", code.Show(doc.Lookup(spec, "key")))
	}
	d, _ := doc.AsDoc(doc.Lookup(spec, "collation"))
	return simpleCollation(d)
}

// readViewOptions writes viewOn and pipeline.
func readViewOptions(r *request, a *doc.Writer, name string) error {
	on, stages := r.string("viewOn"), r.list("pipeline")
	switch {
	case r.err != nil:
		return r.err
	case r.get("viewOn").Type == 0 && r.get("pipeline").Type != 0:
		return code.New(code.InvalidOptions, "'pipeline' requires 'viewOn' to also be specified")
	case r.get("viewOn").Type == 0:
		return nil
	}
	for _, other := range []string{
		"validator", "validationLevel", "validationAction", "idIndex", "autoIndexId", "storageEngine",
	} {
		if r.get(other).Type != 0 {
			return code.New(code.InvalidOptions, "option not supported on a view: %s", other)
		}
	}
	if err := r.s.checkView(r.NewNames(), r.db, name, on, stages); err != nil {
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
func readValidationOptions(r *request, a *doc.Writer, under string) error {
	rules, level, action := r.document("validator"), r.string("validationLevel"), r.string("validationAction")
	switch {
	case r.err != nil:
		return r.err
	case level != "" && level != "off" && level != "strict" && level != "moderate":
		return code.New(code.BadValue,
			"Enumeration value '%s' for field '%s.validationLevel' is not a valid value.", level, r.Name+under)
	case action != "" && action != "error" && action != "warn":
		return code.New(code.BadValue,
			"Enumeration value '%s' for field '%s.validationAction' is not a valid value.", action, r.Name+under)
	case rules != nil && (r.db == "admin" || r.db == "local" || r.db == "config"):
		return code.New(code.InvalidOptions,
			"Document validators are not allowed on collections in the %s database", r.db)
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

// sameOptions is the answer to create if the container exists: no error if it has the options that were asked for.
func sameOptions(c *catalog.Container, options doc.Doc) error {
	have := c.State().Echo
	ns := c.Database.Name + "." + c.State().Name
	if c.State().Dialect != catalog.Mongo {
		return code.New(code.NamespaceExists,
			"Collection %s already exists. It is a Cosmos DB for NoSQL container.", ns)
	}
	switch is, wants := query.ViewOf(c) != nil, doc.Lookup(options, "viewOn").Type != 0; {
	case is && !wants:
		return code.New(code.NamespaceExists, "namespace %s already exists, but is a view rather than a collection", ns)
	case !is && wants:
		return code.New(code.NamespaceExists, "namespace %s already exists, but is a collection rather than a view", ns)
	}
	if have == nil {
		have = doc.Empty
	}
	if options == nil {
		options = doc.Empty
	}
	if !doc.EqualBSON(doc.Object(have), doc.Object(options)) {
		return code.New(code.NamespaceExists,
			"namespace %s already exists, but with different options: %s", ns, code.Show(doc.Object(have)))
	}
	return nil
}
