"""Checks whether descriptions, parameters and errors are informative, in Chinese or another language."""

from __future__ import annotations

import re

HAN = re.compile(r"[\u3400-\u9fff]")
VERBS = frozenset(
    """
    accept acquire add adjust aggregate align analyse analyze annotate answer append apply approve
    archive ask assemble assess assign attach audit average balance bind block blur book boost brew
    buffer build bundle cache calculate call cancel canonicalise canonicalize capitalise capitalize
    capture cast change chart check choose clamp classify clean clear clip clone close coalesce
    collapse collect color colour combine commit compare compile complete compose compress compute
    concatenate configure confirm connect construct contact control convert copy correct count crack
    crawl create crop crunch customise customize cut debug decode decompress decrypt dedupe
    deduplicate define delete deliver deploy derive describe detect determine diff digest disable
    discover dispatch display divide document download draw drop dump duplicate echo edit eject
    eliminate embed emit enable encapsulate encode encrypt end enforce enhance enlarge enrich ensure
    enumerate escape establish estimate evaluate examine exchange execute expand explain export
    expose extract feed fetch fill filter find fix flag flatten flip flush fold follow forecast fork
    format forward freeze gather generate geocode get give grade grant graph greet group guess guide
    handle harvest hash help hide highlight host identify import index infer ingest initialise
    initialize inline insert inspect install interleave interpolate interpret invert invoke issue
    join jump keep kill label launch lay learn lend let lex lift limit line link lint list listen
    load locate lock log look lookup lowercase mail maintain make manage map mark mask match mean
    measure mend merge migrate mine mirror mix model modify monitor mount move multiply name narrow
    navigate negotiate normalise normalize notify number observe obtain offer open optimise optimize
    order organise organize outline overlay pack paint pair parse partition paste patch pause peek
    perform permute persist phrase pick ping plan play plot poll populate post predict prepare
    present preserve preview print probe process produce profile project prompt propose prove
    provide prune publish pull purge push put quantify quantise quantize query queue quiz quote
    raise randomise randomize rank rate reach read rebuild recall receive recognise recognize
    recommend record recover recreate redact reduce refine reformat refresh refuse register reindex
    reject relate release remind remove rename render reorder reorganise reorganize repackage repair
    repeat rephrase replace reply report reproduce request research reserve reset reshape resize
    resolve restore resume retrieve retry return reuse reveal reverse revert review rewrite roll
    rotate round route run sample sanitise sanitize save say scale scan schedule score scrape scrub
    search seed segment select send separate serialise serialize serve set share sharpen shift
    shorten shout show shrink shuffle sign simplify simulate skip slice slugify smooth snapshot
    sniff solve sort speak spell spin split stack stage stamp standardise standardize start state
    stitch stop store stream stretch strip structure study style submit subscribe subset subtract
    suggest sum summarise summarize supply survey suspend swap switch sync synthesise synthesize
    tabulate tag take tally target teach tell test throttle tidy time tint title toggle tokenise
    tokenize toss total trace track train transcode transcribe transfer transform translate transmit
    transpose traverse trigger trim truncate try tune turn type undo unescape unfold unify uninstall
    unlock unpack unwrap unzip update upgrade upload uppercase use validate vary verify view visit
    visualise visualize vote wait walk warm warn wash watch weigh whisper widen wrap write yield zip
    zoom
    """.split()  # noqa: SIM905  a list would take hundreds of lines
)
VERB_ENDINGS = re.compile(r"\w{2,}(ise|ize|ify)s?$")
CHINESE_VERBS = re.compile(
    r"(批量|快速|自动|一键|直接|递归|逐行|逐个|定时|实时|随机|安全地?)?"
    r"(读取|写入|获取|查询|查找|查看|搜索|检索|生成|创建|新建|删除|移除|去除|更新|修改|编辑|转换|翻译|计算|换算|估算|"
    r"统计|分析|解析|提取|抽取|列出|列举|合并|拼接|拆分|分割|切分|压缩|解压|打包|裁剪|缩放|旋转|翻转|反转|下载|上传|拉取|"
    r"推送|发送|接收|执行|运行|检查|校验|验证|确认|比较|对比|匹配|导入|导出|渲染|绘制|格式化|过滤|筛选|排序|汇总|总结|聚合|"
    r"识别|检测|监控|监听|扫描|遍历|打开|关闭|启动|停止|保存|备份|恢复|复制|拷贝|移动|重命名|返回|输出|给出|提供|加密|解密|"
    r"签名|编码|解码|抓取|爬取|采集|收集|添加|追加|插入|替换|填充|设置|配置|调整|优化|清理|清洗|去重|归档|同步|调用|打印|"
    r"显示|展示|回显|问候|重复|标注|标记|分类|归类|评估|预测|模拟|测量|测试|构建|编译|部署|安装|卸载|发布|提交|订阅|通知|"
    r"提醒|推荐|选择|选取|截取|截图|录制|播放|朗读|合成|改写|润色|回答|描述|求和|求解|将|把|对|按|为|从|根据|读|写|查|列|"
    r"算|测|取|存|删|画|求)"
)
LIMIT = re.compile(
    r"\d|\b(only|at most|at least|up to|limit(ed)?|max(imum)?|min(imum)?|must|needs?|requires?|within|under|"
    r"below|without|unless|except|cannot|never|not?|if|inside|existing|relative to|one at a time)\b",
    re.IGNORECASE,
)
CHINESE_LIMIT = re.compile(r"\d|上限|下限|仅|只|必须|需|最大|最多|最少|不超过|以内|限|前提|不支持|不能|之前|须")
CONSTRAINT = re.compile(
    r"\d|\b(default(s)?|optional|required|must|max(imum)?|min(imum)?|at most|at least|up to|between|one of|"
    r"only|relative|format|non-?empty|positive|not empty|limit|from|true|false|either|any|ends? in)\b",
    re.IGNORECASE,
)
CHINESE_CONSTRAINT = re.compile(
    r"\d|默认|必填|可选|上限|最大|最多|最小|格式|相对|范围|不超过|仅|只|不能|非空|必须|须|为 ?true|支持"
)
# For a boolean, a description of the effect of true or false counts as an example.
EXAMPLE = re.compile(
    r"\b(examples?|e\.g\.|such as|for instance|for example|(when|if) (true|false))|"
    r"示例|例如|比如|例：|例:|如 |如：|（如|，如|为 ?(true|false|真|假) ?时",
    re.I,
)
NEXT_STEP = re.compile(r"\S.*\s*(—|–|--)+\s*\S")


def chinese(text: str) -> bool:
    """Whether a text is written in Chinese rather than another language."""
    return len(HAN.findall(text)) * 4 >= len(re.findall(r"\w", text)) > 0


def starts_with_verb(text: str) -> bool:
    """Whether the first word is a verb; text in scripts other than Latin and Chinese is accepted."""
    if chinese(text):
        return CHINESE_VERBS.match(text.strip()) is not None
    word = re.match(r"[A-Za-z]+", text.strip())
    if word is None:
        return not text.isascii()
    first = word[0].lower()
    forms = (first, first.removesuffix("s"), first.removesuffix("es"), re.sub("ies$", "y", first))
    return any(form in VERBS for form in forms) or VERB_ENDINGS.match(first) is not None


def states_limit(text: str) -> bool:
    """Whether a description states a limit or a precondition."""
    return (CHINESE_LIMIT if chinese(text) else LIMIT).search(text) is not None


def right_length(text: str) -> bool:
    """Whether a text has 20 to 80 characters in Chinese, or 20 to 200 in other languages."""
    return 20 <= len(text) <= (80 if chinese(text) else 200)


def missing_parts(text: str, *, constrained: bool = False) -> list[str]:
    """Return the parts that a parameter's description lacks: its meaning, its constraint, an example."""
    missing = []
    before = EXAMPLE.split(text, maxsplit=1)[0]
    if len(re.findall(r"\w", before)) < (4 if chinese(text) else 8):
        missing.append("what it is")
    pattern = CHINESE_CONSTRAINT if chinese(text) else CONSTRAINT
    if not constrained and pattern.search(before) is None:
        missing.append("its constraint or default")
    if EXAMPLE.search(text) is None:
        missing.append("an example")
    return missing


def says_next_step(message: str) -> bool:
    """Whether an error has the form `<problem>: <value> — <next step>`, in which the value is optional."""
    return "Traceback" not in message and NEXT_STEP.search(message) is not None


def same_language(message: str, description: str) -> bool:
    """Whether a message and a description are both in Chinese or both not."""
    return bool(HAN.search(message)) if chinese(description) else not chinese(message)
