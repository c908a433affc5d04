package till

// Messages that tests expect.
var (
	NoScan        = errNoScan.Error()
	NoCode        = errNoCode.Error()
	NoVoucher     = errNoVoucher.Error()
	NoCard        = errNoCard.Error()
	NoSearch      = errNoSearch.Error()
	NoLastReceipt = errNoLastReceipt.Error()
)

// Page is a page or a part of one.
type Page struct {
	Path   string // with :ulid for a record's id
	Public bool
}

// Pages lists the pages of the point of sale.
func Pages() (list []Page) {
	for _, r := range (&Till{}).routes() {
		if r.method == get {
			list = append(list, Page{Path: r.path, Public: r.public})
		}
	}
	return list
}
