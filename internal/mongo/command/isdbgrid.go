package command

import "os"

// isdbgrid answers that the server is a mongos.
// https://www.mongodb.com/docs/v7.0/reference/command/isdbgrid/
func isdbgrid(r *request, a *answer) error {
	if err := r.mongosOnly(); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = r.Address()
	}
	a.Double("isdbgrid", 1)
	a.String("hostname", host)
	return nil
}
