// Where people live in Japan, by squares of about 10 km: the second level of the standard mesh, JIS X 0410.
// From the population census of 2020 by 500 m mesh (Statistics Bureau of Japan, e-Stat table T001141): a square is
// listed if any of its 500 m meshes has people. It is there to find one's way on the map, and for nothing else.
// Each entry is a first-level code and 64 bits in hexadecimal: bit 8 * row + column stands for a square, from the
// south-west on.
const INHABITED = `
3622:800000000000 3623:41e0c0800040 3624:2406070303010000 3653:80000000 3724:2020 3725:6060e0e 3741:400
3831:406060000000000 3926:6040000000 3927:c2c2e0e2e0e4e020 3928:703010000000000 3942:200000000000000
4027:80808000c0 4028:1000000800060607 4042:20200000000 4128:80808080002030 4129:10100000000 4229:2030bc9e0e0e06
4230:101000000 4329:4020000000000 4429:80c0401020001000 4530:8080daf838180000 4531:101000000000000 4629:808000
4630:fef8e06000000cc0 4631:101000000000101 4729:c0406020000000 4730:fefefefefcfcfede 4731:f0f0f0f0f0f0f07
4828:f0c0000000000000 4829:e060008080800000 4830:fefffffffffffffe 4831:7f3f3f3f1f1f1f1f 4839:400000000000
4928:8080e0f0 4929:fbfff1f7f3f1e1c0 4930:fffffffbfbfffffe 4931:ffffffffffffffff 4932:fcfcfdf9f9f8e890
4933:307030101010101 4934:302000000000000 4939:604000000000 5029:606060c0c0f8f8 5030:e0f9fcfeffffffff
5031:ff0181313f3f3f3f 5032:ffefe7faf8fcfeff 5033:ffffffffffff9f0f 5034:3f7f3f1f0f070703 5035:fffffefcfcf86000
5036:703010100000000 5039:10000000000000 5129:c0c0c0e0e060600 5130:80c08080c080 5131:f0fcffffffffffff
5132:fffffffffffffbfb 5133:ffffdffff3f7f1f1 5134:9bc7c7e7ef7f7f3f 5135:fbf9fefeff7fffff 5136:3fffffffff4f0706
5137:ef01000000000000 5138:c300000000000000 5139:4040602021818 5229:8 5231:80c2e0 5232:f0f8fcfeffffffff
5233:ffffffffffffffff 5234:ffffffffffffffdf 5235:ffffffffffffffff 5236:ffffffffffffdfdf 5237:ffffffffffffffff
5238:feffffdfdfc7c7e7 5239:fff3f3c3c3c30d0d 5240:f0f070100000000 5332:c0e0e0 5333:1ffffff 5334:80fcffffff
5335:80800687c7ffffff 5336:ffffc7ffffffffff 5337:fff7bfbfffffffff 5338:fffffdf9fdfffffd 5339:ffffffffff7fbfff
5340:3f7f7f7f1f0f0f0f 5432:8080 5433:6060701 5435:80 5436:f0f8f8fcbfbf9fbf 5437:ffffeffeffffffff
5438:ffffffffffffffff 5439:ffffffffffffffff 5440:3f3f1f3f1f1f1f3f 5536:e0e0e0e0c0e0e0e0 5537:70181e1f9f9ffef
5538:fcfffffffffeffdf 5539:fdf1fbbef4fffffb 5540:ffffffffff7f7f3f 5541:101010000000000 5636:800000000080e0
5637:60707 5638:1e8ec6c0e0e0f0f8 5639:efcfeffffffff9ff 5640:ffffffffffffffff 5641:10101010101 5738:181c1e1e
5739:f0f0fe989878fcfc 5740:fffccfffffffffff 5741:1f1f1f1f1b080000 5839:8090c0c0c0c0e0f0 5840:ffbfbffdffefffff
5841:ffffff7f3f3f1f1f 5939:e0e0000000000080 5940:ff9bf3ffbfffffff 5941:ffffffffffffffff 5942:1010100
6039:c0808080000080a0 6040:fffcf0fd7fffffdf 6041:f1f3f7f7f7f7fff 6139:80 6140:c4fcf4bcecfcffff
6141:e0f0e0e0f070f0f 6239:80800000 6240:fffff3bf0d8fc742 6241:303010000030f 6243:200000000000000
6339:40c0c0c0c0d89808 6340:fdfec787870e7df3 6341:fd8f070101000000 6342:8f0f1f3e7cf0c000 6343:1f0f0e0e06050507
6439:80 6440:3cf4e8f878fcfeff 6441:fcfdfffefefcf9f9 6442:9cfcf8f9cf9b8e8f 6443:7fffbfbfffff7f3f
6444:ffbfff7fff000000 6445:3f1f070300000000 6540:18 6541:60f8dcc4fcecd8f8 6542:9f7fffffff3bbfde
6543:fefefafcf8e272fe 6544:7f7fff9feffffffe 6545:301010303030777 6641:c0c06c60606060e0 6642:c5dc0cdcffbebe3e
6643:103071e7ffbfc 6644:387 6645:40703 6741:f3f6f6e0e0e0c0c0 6742:3070e1d173f7d7f 6840:8080 6841:80e161 6842:103
`;

/** [[row, column], ...] of inhabited squares of the second level: rows from latitude 0, columns from longitude 100. */
export function inhabitedSquares() {
  const squares = [];
  for (const entry of INHABITED.trim().split(/\s+/)) {
    const [code, bits] = entry.split(":");
    const mask = BigInt(`0x${bits}`);
    const south = 8 * Number(code.slice(0, 2));
    const west = 8 * Number(code.slice(2));
    for (let place = 0; place < 64; place += 1) {
      if ((mask >> BigInt(place)) & 1n) squares.push([south + (place >> 3), west + (place & 7)]);
    }
  }
  return squares;
}
