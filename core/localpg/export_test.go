package localpg

var RoomyTemp = roomyTemp
