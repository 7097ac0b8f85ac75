package admin

import (
	"io"
	"net/http"
)

// backupBody is enough for the checksums of 200,000 table files.
const backupBody = 16 << 20

// takeBackup takes {"have": ["9f86d08..."]}, the SHA-256 of tables that the caller has, or no body.
func (a *admin) takeBackup(w http.ResponseWriter, r *http.Request) error {
	if a.Backup == nil {
		return missing("backup")
	}
	var body struct{ Have []string }
	if r.ContentLength != 0 {
		var err error
		if body, err = read[struct{ Have []string }](r, `{"have": ["9f86d081..."]}`); err != nil {
			return err
		}
	}
	return a.send(w, "application/x-tar", func(out io.Writer) error {
		return a.Backup.Write(r.Context(), out, body.Have)
	})
}
