package customer

// InBatches makes batches so many rows and jobs so many batches, of this service.
func (s *Imports) InBatches(rows, batches int) *Imports {
	s.batch, s.slice = rows, batches
	return s
}
