package daily

// TodayFrom is the service with another number of sales from which today is counted.
func (s *Service) TodayFrom(sales int) *Service {
	other := *s
	other.manySales = sales
	return &other
}
