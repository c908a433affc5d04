package till

// Messages that tests expect.
var (
	NoScan     = errNoScan.Error()
	NoVoucher  = errNoVoucher.Error()
	NoCard     = errNoCard.Error()
	NoPhone    = errNoPhone.Error()
	NoLastSale = errNoLastSale.Error()
)
