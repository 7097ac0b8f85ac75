package catalog

// SetMaxEvents makes the audit trail shorter than it is outside of tests.
func (c *Catalog) SetMaxEvents(n uint64) { c.maxEvents = n }

// SetMaxTrail makes the audit trail smaller than it is outside of tests, in bytes.
func (c *Catalog) SetMaxTrail(n uint64) { c.maxTrail = n }
