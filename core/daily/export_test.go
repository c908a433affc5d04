package daily

// QuartersFrom is the service with another number of sales from which quarters of an hour are counted.
func (s *Service) QuartersFrom(sales int) *Service {
	other := *s
	other.manySales = sales
	return &other
}
