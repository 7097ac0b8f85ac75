package admin

import (
	"io"
	"net/http"
)

// jsonLines is the media type of one JSON object per line.
const jsonLines = "application/x-ndjson"

// importItems reads items for as long as the client sends them.
func (a *admin) importItems(w http.ResponseWriter, r *http.Request) error {
	if a.Transfer == nil {
		return missing("import")
	}
	result, err := a.Transfer.Import(r.Context(), r.PathValue("db"), r.PathValue("c"), r.URL.Query(), newInflow(w, r))
	return a.reply(w, result, err)
}

func (a *admin) exportItems(w http.ResponseWriter, r *http.Request) error {
	if a.Transfer == nil {
		return missing("export")
	}
	return a.send(w, jsonLines, func(out io.Writer) error {
		return a.Transfer.Export(r.Context(), r.PathValue("db"), r.PathValue("c"), r.URL.Query(), out)
	})
}
