package rest

import "testing"

func TestHeadersThatAreEnumerations(t *testing.T) {
	d, _ := withContainer(t, "")
	d.do("POST", documents, `{"id":"1","pk":"a"}`, key, inA).want(201)
	for _, c := range []struct {
		name, header, value string
		status              int
		says                string
	}{
		{"indexing directive", "x-ms-indexing-directive", "Exclude", 200, ""},
		{"in lower case", "x-ms-indexing-directive", "include", 200, ""},
		{"as a number", "x-ms-indexing-directive", "2", 200, ""},
		{"number of none", "x-ms-indexing-directive", "3", 400, "Invalid value 3 passed for enum IndexingDirective."},
		{"unknown indexing directive", "x-ms-indexing-directive", "Never", 400,
			"Invalid value Never passed for enum IndexingDirective."},
		{"content format", "x-ms-documentdb-content-serialization-format", "JsonText", 200, ""},
		{"binary, which nobody has to write", "x-ms-documentdb-content-serialization-format", "CosmosBinary", 200, ""},
		{"unknown content format", "x-ms-documentdb-content-serialization-format", "Xml", 400,
			"Invalid value Xml passed for enum ContentSerializationFormat."},
		{"unknown key type", "x-ms-read-key-type", "Name", 400, "Invalid value Name passed for enum ReadFeedKeyType."},
		{"priority", "x-ms-cosmos-priority-level", "Low", 200, ""},
		{"forward", "x-ms-enumeration-direction", "Forward", 200, ""},
		{"backward, which is not supported", "x-ms-enumeration-direction", "Reverse", 400,
			"Invalid value Reverse passed for enum EnumerationDirection. Send one of Forward"},
		{"unknown priority", "x-ms-cosmos-priority-level", "Highest", 400,
			"Invalid value Highest passed for enum PriorityLevel."},
		{"consistency", "x-ms-consistency-level", "eventual", 200, ""},
		{"unknown consistency", "x-ms-consistency-level", "Perfect", 400,
			"Value 'Perfect' specified for the header 'x-ms-consistency-level' is invalid."},
		{"stronger consistency", "x-ms-consistency-level", "Strong", 400,
			"ConsistencyLevel Strong specified in the request is invalid when service is configured with consistency " +
				"level Session."},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.t = t
			d.do("GET", documents+"/1", "", key, inA, c.header, c.value).want(c.status).says(c.says)
		})
	}
	d.do("POST", documents, `{"id":"2","pk":"a"}`, key, inA, "x-ms-indexing-directive", "Never").want(400)
	d.do("GET", documents+"/2", "", key, inA).want(404)
	for _, feed := range []string{documents, collection + "/pkranges"} {
		d.do("GET", feed, "", "A-IM",
			"Whole Feed").want(400).says("Value 'Whole Feed' specified for the header 'a-im' is invalid.")
		d.do("GET", feed, "", "A-IM", "incremental feed").want(200)
	}
}
