package daily

// HoursFrom is the service with another number of sales from which hours are counted.
func (s *Service) HoursFrom(sales int) *Service {
	other := *s
	other.manySales = sales
	return &other
}
